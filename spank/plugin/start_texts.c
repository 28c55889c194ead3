#define _GNU_SOURCE
#include "spank/plugin/start_texts.h"

#include <limits.h>
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void read_node_name(spank_t spank) {
    read_variable(spank, "SLURMD_NODENAME", texts.node, sizeof texts.node);
    if (texts.node[0] == '\0' && gethostname(texts.node, sizeof texts.node - 1) == 0) {
        texts.node[strcspn(texts.node, ".")] = '\0';
    }
}

static void read_nodes(spank_t spank, uint32_t step_id) {
    if (step_id == SLURM_BATCH_SCRIPT) { /* runs on this node alone, whatever the job has */
        memcpy(texts.nodes, texts.node, sizeof texts.node);
        return;
    }
    read_variable(spank, "SLURM_STEP_NODELIST", texts.nodes, sizeof texts.nodes);
}

static uint32_t stall_seconds(spank_t spank) {
    char number[NUMBER_BYTES];
    read_variable(spank, "INQUEST_STALL_SECONDS", number, sizeof number);
    unsigned long seconds = strtoul(number, NULL, 10);
    return seconds <= UINT32_MAX ? (uint32_t)seconds : 0;
}

int inquest_add_start_texts(spank_t spank, const char* box_path, struct inquest_step_packet* packet) {
    read_node_name(spank);
    read_nodes(spank, packet->head.step_id);
    read_variable(spank, "INQUEST_REPORT_DIR", texts.report, sizeof texts.report);
    read_variable(spank, "INQUEST_INJECTED", texts.injected, sizeof texts.injected);
    read_variable(spank, "INQUEST_LEFT_ALONE", texts.left_alone, sizeof texts.left_alone);
    packet->head.stall_seconds = stall_seconds(spank);
    const char* const in_order[INQUEST_STEP_TEXTS] = {
        [INQUEST_STEP_TEXT_NODE] = texts.node,         [INQUEST_STEP_TEXT_NODES] = texts.nodes,
        [INQUEST_STEP_TEXT_REPORT] = texts.report,     [INQUEST_STEP_TEXT_BOXES] = box_path,
        [INQUEST_STEP_TEXT_INJECTED] = texts.injected, [INQUEST_STEP_TEXT_LEFT_ALONE] = texts.left_alone,
    };
    return inquest_step_packet_add_texts(packet, in_order);
}
