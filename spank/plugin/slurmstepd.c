#define _GNU_SOURCE
#include "spank/plugin/slurmstepd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/format/step_journal.h"
#include "spank/plugin/box_directory.h"
#include "spank/plugin/daemon_client.h"
#include "spank/plugin/ended_steps.h"
#include "spank/plugin/journal.h"
#include "spank/plugin/launch_client.h"
#include "spank/plugin/oom_count.h"
#include "spank/plugin/options.h"
#include "spank/plugin/site_arguments.h"
#include "spank/plugin/start_texts.h"
#include "spank/plugin/step_message.h"
#include "spank/plugin/taken_away.h"

enum { FAILURE_WAIT_MS = 300, END_WAIT_MS = 2000, ARMED_VALUE_BYTES = 8 };

static struct inquest_site_arguments site;
static struct inquest_node_places places = {INQUEST_RUN_DIRECTORY, INQUEST_DAEMON_SOCKET};

/* The one step of this slurmstepd. */
static struct {
    struct inquest_step step;
    char box_path[INQUEST_BOX_PATH_BYTES];
    int decides;   /* srun's answer is not in the environment: ask inquest-launch here */
    int leftovers; /* not armed, but the environment holds what an armed job that submitted this one had */
    int prepared;  /* box directory and journal are there */
    int armed;     /* this node's tasks run with Inquest */
    int announced; /* STEP_START was written */
    int first_failure; /* wait status of the first task that failed, 0 none */
    int daemon_hangs;  /* a reply did not come in time: never wait again */
} node;

/* Large, and used by one callback at a time. */
static struct inquest_step_packet packet;
static struct inquest_records records;

void inquest_slurmstepd_use_places(const struct inquest_node_places* other) {
    places = *other;
    memset(&node, 0, sizeof node);
}

int inquest_slurmstepd_init(spank_t spank, int argument_count, char* arguments[]) {
    inquest_site_arguments_parse(argument_count, arguments, &site);
    inquest_options_register(spank);
    return 0;
}

static int environment_says_armed(spank_t spank) {
    char value[ARMED_VALUE_BYTES];
    return spank_getenv(spank, "INQUEST_ARMED", value, sizeof value) == ESPANK_SUCCESS &&
           strcmp(value, "1") == 0;
}

static void disarm_tasks(spank_t spank) {
    (void)spank_unsetenv(spank, "INQUEST_ARMED");
    (void)spank_unsetenv(spank, "INQUEST_BOX_DIR");
    node.armed = 0;
}

static int prepare(void) {
    inquest_ended_steps_trim(places.run_directory, node.step.job_id);
    int result = inquest_box_directory_make(places.run_directory, &node.step, node.box_path);
    if (result != 0) {
        return result;
    }
    result = inquest_journal_make(places.run_directory, &node.step);
    if (result != 0) {
        inquest_box_directory_remove(node.box_path);
        return result;
    }
    node.prepared = 1;
    return 0;
}

static void clean_up(void) {
    inquest_journal_remove(places.run_directory, &node.step);
    inquest_box_directory_remove(node.box_path);
    node.prepared = 0;
}

/* Whether the step's environment holds no answer of its own srun. A batch step has no srun; what its
 * environment says was for the job that submitted it. With --export=NONE or a list, and in all but the last
 * component of a heterogeneous step, Slurm does not carry what the plugin set in srun. */
static int lacks_answer(spank_t spank) {
    char value[ARMED_VALUE_BYTES];
    if (inquest_step_is_batch(&node.step)) {
        (void)spank_unsetenv(spank, "INQUEST_ARMED");
        (void)spank_unsetenv(spank, "INQUEST_DISARMED");
        return 1;
    }
    return !environment_says_armed(spank) &&
           spank_getenv(spank, "INQUEST_DISARMED", value, sizeof value) == ESPANK_ENV_NOEXIST;
}

static int is_wanted(spank_t spank) {
    node.decides = lacks_answer(spank);
    if (!node.decides) {
        return environment_says_armed(spank);
    }
    int enabled = inquest_options_enabled(inquest_options_given(), site.default_on);
    char value[ARMED_VALUE_BYTES];
    node.leftovers =
        !enabled && spank_getenv(spank, "INQUEST_INJECTED", value, sizeof value) != ESPANK_ENV_NOEXIST;
    return enabled;
}

/* How often the job was restarted tells its runs apart (spank/launch/report_name.h). Slurm sets the number
 * later than this, and only where it is not 0; a job that was submitted by a restarted one has inherited that
 * one's (seen with 22.05.8). */
static void drop_inherited_restarts(spank_t spank) {
    if (inquest_step_is_batch(&node.step)) {
        (void)spank_unsetenv(spank, "SLURM_RESTART_COUNT");
    }
}

int inquest_slurmstepd_init_post_opt(spank_t spank) {
    inquest_take_away(spank);
    if (inquest_step_of_node(spank, &node.step) != 0 || inquest_step_is_extern(&node.step)) {
        return 0;
    }
    if (!is_wanted(spank)) {
        return 0;
    }
    drop_inherited_restarts(spank);
    int result = prepare();
    if (result != 0) {
        slurm_verbose("inquest: step %u.%s runs without Inquest on this node: %s", node.step.job_id,
                      node.step.name, strerror(-result));
        disarm_tasks(spank);
        return 0;
    }
    node.armed = !node.decides;
    if (node.armed && spank_setenv(spank, "INQUEST_BOX_DIR", node.box_path, 1) != ESPANK_SUCCESS) {
        disarm_tasks(spank);
    }
    return 0;
}

static enum inquest_answer ask_launch(spank_t spank) {
    struct inquest_identity identity = {
        .uid = node.step.uid, .gid = node.step.gid, .groups = NULL, .group_count = 0};
    gid_t* groups = NULL;
    char** environment = NULL;
    if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &identity.group_count) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_ENV, &environment) != ESPANK_SUCCESS || environment == NULL) {
        return INQUEST_ANSWER_BROKEN;
    }
    identity.groups = groups;
    struct inquest_launch_request request = {.launch_path = site.launch_path,
                                             .job_id = node.step.job_id,
                                             .step_name = node.step.name,
                                             .off = node.leftovers,
                                             .options = inquest_options_given(),
                                             .environment = environment,
                                             .identity = &identity};
    return inquest_launch_ask(&request, &records);
}

static int set_all(spank_t spank) {
    size_t position = 0;
    const char* name = NULL;
    const char* value = NULL;
    while (inquest_records_next(&records, &position, &name, &value)) {
        if (spank_setenv(spank, name, value, 1) != ESPANK_SUCCESS) {
            return -1;
        }
    }
    return 0;
}

int inquest_slurmstepd_user_init(spank_t spank) {
    if (!node.decides || !(node.prepared || node.leftovers)) {
        return 0;
    }
    enum inquest_answer answer = ask_launch(spank);
    if (answer == INQUEST_ANSWER_BROKEN) {
        return 0;
    }
    int complete = set_all(spank) == 0;
    inquest_take_away(spank);
    node.armed = complete && answer == INQUEST_ANSWER_ARMED &&
                 spank_setenv(spank, "INQUEST_BOX_DIR", node.box_path, 1) == ESPANK_SUCCESS;
    if (!node.armed) {
        disarm_tasks(spank);
    }
    return 0;
}

/* Journal first, then the daemon; waits only when asked, and never again after one time-out. */
static void publish(uint32_t wait_ms) {
    (void)inquest_journal_append(places.run_directory, &node.step, &packet);
    uint32_t patience_ms = node.daemon_hangs ? 0 : wait_ms;
    int result = inquest_daemon_send(places.daemon_socket, &packet, packet.head.total_bytes, patience_ms);
    if (result == -ETIMEDOUT) {
        node.daemon_hangs = 1;
    }
}

static void announce_step(spank_t spank) {
    inquest_step_packet_begin(&packet, INQUEST_STEP_START, &node.step);
    node.announced = 1;
    if (inquest_add_start_texts(spank, node.box_path, &packet) == 0) {
        publish(0);
    }
}

int inquest_slurmstepd_task_post_fork(spank_t spank) {
    if (!node.armed) {
        return 0;
    }
    if (!node.announced) {
        announce_step(spank);
    }
    uint32_t task = 0;
    pid_t pid = 0;
    if (spank_get_item(spank, S_TASK_GLOBAL_ID, &task) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_TASK_PID, &pid) != ESPANK_SUCCESS) {
        return 0;
    }
    inquest_step_packet_begin(&packet, INQUEST_TASK_START, &node.step);
    packet.head.task = (int32_t)task;
    packet.head.pid = pid;
    publish(0);
    return 0;
}

static uint32_t failure_patience_ms(int wait_status) {
    if (wait_status == 0 || node.first_failure != 0) {
        return 0;
    }
    node.first_failure = wait_status;
    return FAILURE_WAIT_MS;
}

int inquest_slurmstepd_task_exit(spank_t spank) {
    uint32_t task = 0;
    pid_t pid = 0;
    int wait_status = 0;
    if (!node.armed || spank_get_item(spank, S_TASK_GLOBAL_ID, &task) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_TASK_EXIT_STATUS, &wait_status) != ESPANK_SUCCESS) {
        return 0;
    }
    (void)spank_get_item(spank, S_TASK_PID, &pid);
    inquest_step_packet_begin(&packet, INQUEST_TASK_EXIT, &node.step);
    packet.head.task = (int32_t)task;
    packet.head.pid = pid;
    packet.head.wait_status = wait_status;
    if (wait_status != 0) { /* reads every task's cgroup: not for each of a thousand that end well */
        packet.head.oom_kills = inquest_oom_kills("/proc/self/cgroup", "/sys/fs/cgroup");
    }
    publish(failure_patience_ms(wait_status));
    return 0;
}

int inquest_slurmstepd_exit(void) {
    if (node.prepared && !node.announced) { /* nobody else knows of it */
        clean_up();
    } else if (node.armed) {
        inquest_step_packet_begin(&packet, INQUEST_STEP_END, &node.step);
        packet.head.wait_status = node.first_failure;
        publish(END_WAIT_MS);
    }
    return 0;
}
