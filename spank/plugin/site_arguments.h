/* Arguments of the plugin's line in plugstack.conf:
 *   launch=PATH    inquest-launch, where it is not in its installed place
 *   notice=PATH    inquest-notice, the same
 *   default=on|off whether jobs are armed that did not ask for it; off when absent
 * An argument that is not understood is reported and has no other effect. */
#ifndef INQUEST_SPANK_PLUGIN_SITE_ARGUMENTS_H
#define INQUEST_SPANK_PLUGIN_SITE_ARGUMENTS_H

#ifdef __cplusplus
extern "C" {
#endif

struct inquest_site_arguments {
    const char* launch_path; /* never NULL; points into the arguments or is a constant */
    const char* notice_path;
    int default_on;
};

/* Reads the arguments, which must outlive the result (Slurm keeps them as long as the plugin is loaded). */
void inquest_site_arguments_parse(int count, char* arguments[], struct inquest_site_arguments* ret_site);

#ifdef __cplusplus
}
#endif

#endif
