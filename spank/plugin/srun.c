#define _GNU_SOURCE
#include "spank/plugin/srun.h"

#include <stdlib.h>
#include <unistd.h>

#include "spank/plugin/launch_client.h"
#include "spank/plugin/notice_client.h"
#include "spank/plugin/options.h"
#include "spank/plugin/site_arguments.h"
#include "spank/plugin/step.h"

static struct inquest_site_arguments site;

int inquest_srun_init(spank_t spank, int argument_count, char* arguments[]) {
    inquest_site_arguments_parse(argument_count, arguments, &site);
    inquest_options_register(spank);
    return 0;
}

/* An enclosing armed job may have set them in our environment; only this step's own decision may. */
int inquest_srun_init_post_opt(void) {
    (void)unsetenv("INQUEST_ARMED");
    (void)unsetenv("INQUEST_DISARMED");
    return 0;
}

static enum inquest_answer ask(const struct inquest_step* step, int off, struct inquest_records* records) {
    struct inquest_launch_request request = {.launch_path = site.launch_path,
                                             .job_id = step->job_id,
                                             .step_name = step->name,
                                             .off = off,
                                             .options = inquest_options_given(),
                                             .environment = environ,
                                             .identity = NULL};
    return inquest_launch_ask(&request, records);
}

static void set_all(const struct inquest_records* records) {
    size_t position = 0;
    const char* name = NULL;
    const char* value = NULL;
    while (inquest_records_next(records, &position, &name, &value)) {
        (void)setenv(name, value, 1);
    }
}

/* Nodes must not try again what failed here. Only who asked for Inquest is told that it is not there. */
static void disarm(void) {
    (void)setenv("INQUEST_DISARMED", "inquest-launch gave no usable answer within one second", 0);
    if (inquest_options_given()->choice == INQUEST_CHOICE_ON) {
        slurm_info("inquest: this step runs without Inquest: %s", getenv("INQUEST_DISARMED"));
    }
}

int inquest_srun_local_user_init(spank_t spank) {
    static struct inquest_records records; /* too large for a thread's stack */
    struct inquest_step step;
    int off = !inquest_options_enabled(inquest_options_given(), site.default_on);
    if ((off && getenv("INQUEST_INJECTED") == NULL) || inquest_step_of_srun(spank, &step) != 0) {
        return 0;
    }
    enum inquest_answer answer = ask(&step, off, &records);
    if (answer != INQUEST_ANSWER_BROKEN) {
        set_all(&records);
    }
    if (off) {
        return 0;
    }
    const char* report_directory = getenv("INQUEST_REPORT_DIR");
    if (answer != INQUEST_ANSWER_ARMED) {
        disarm();
    } else if (report_directory != NULL) {
        inquest_notice_start(site.notice_path, report_directory, step.name);
    }
    return 0;
}

int inquest_srun_exit(void) {
    inquest_notice_finish();
    return 0;
}
