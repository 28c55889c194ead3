#define _GNU_SOURCE
#include "spank/plugin/start_texts.h"

#include <limits.h>
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/plugin/host_list.h"

enum { NODE_BYTES = 256, NODES_BYTES = 24 * 1024, NAMES_BYTES = 2048, NUMBER_BYTES = 16 };

static struct {
    char node[NODE_BYTES];
    char nodes[NODES_BYTES];
    char report[PATH_MAX];
    char injected[NAMES_BYTES];
    char left_alone[NAMES_BYTES];
} texts;

/* "" when the variable is absent or too long: a cut list or path would be a wrong one. */
static void read_variable(spank_t spank, const char* name, char* ret_text, size_t bytes) {
    if (spank_getenv(spank, name, ret_text, (int)bytes) != ESPANK_SUCCESS) {
        ret_text[0] = '\0';
    }
}

static void host_name(char* ret_name, size_t bytes) {
    if (gethostname(ret_name, bytes - 1) == 0) {
        ret_name[strcspn(ret_name, ".")] = '\0';
    }
}

/* The batch step runs on its own node alone, whatever the job has, and its SLURMD_NODENAME names that node. A
 * nested srun hands the batch node's SLURMD_NODENAME to all of its nodes (seen with 22.05.8): other steps
 * trust only the list. */
static void read_nodes(spank_t spank, const struct inquest_step_message* head) {
    texts.node[0] = '\0';
    if (head->step_id == SLURM_BATCH_SCRIPT) {
        read_variable(spank, "SLURMD_NODENAME", texts.node, sizeof texts.node);
    } else {
        read_variable(spank, "SLURM_STEP_NODELIST", texts.nodes, sizeof texts.nodes);
        inquest_host_list_name(texts.nodes, head->node_index, texts.node, sizeof texts.node);
        if (!inquest_host_list_is_plain(texts.nodes)) { /* root reads the journal's list again */
            texts.nodes[0] = '\0';
        }
    }
    if (texts.node[0] == '\0') {
        host_name(texts.node, sizeof texts.node);
    }
    if (head->step_id == SLURM_BATCH_SCRIPT) {
        memcpy(texts.nodes, texts.node, sizeof texts.node);
    }
}

static uint32_t stall_seconds(spank_t spank) {
    char number[NUMBER_BYTES];
    read_variable(spank, "INQUEST_STALL_SECONDS", number, sizeof number);
    unsigned long seconds = strtoul(number, NULL, 10);
    return seconds <= UINT32_MAX ? (uint32_t)seconds : 0;
}

static uint32_t flags(spank_t spank) {
    char action[NUMBER_BYTES];
    read_variable(spank, "INQUEST_ON_DIVERGENCE", action, sizeof action);
    return strcmp(action, "cancel") == 0 ? INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE : 0;
}

int inquest_add_start_texts(spank_t spank, const char* box_path, struct inquest_step_packet* packet) {
    read_nodes(spank, &packet->head);
    read_variable(spank, "INQUEST_REPORT_DIR", texts.report, sizeof texts.report);
    read_variable(spank, "INQUEST_INJECTED", texts.injected, sizeof texts.injected);
    read_variable(spank, "INQUEST_LEFT_ALONE", texts.left_alone, sizeof texts.left_alone);
    packet->head.stall_seconds = stall_seconds(spank);
    packet->head.flags = flags(spank);
    const char* const in_order[INQUEST_STEP_TEXTS] = {
        [INQUEST_STEP_TEXT_NODE] = texts.node,         [INQUEST_STEP_TEXT_NODES] = texts.nodes,
        [INQUEST_STEP_TEXT_REPORT] = texts.report,     [INQUEST_STEP_TEXT_BOXES] = box_path,
        [INQUEST_STEP_TEXT_INJECTED] = texts.injected, [INQUEST_STEP_TEXT_LEFT_ALONE] = texts.left_alone,
    };
    return inquest_step_packet_add_texts(packet, in_order);
}
