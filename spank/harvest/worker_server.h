/* Asks torch's worker servers for the flight recorder.
 *
 * torch._C._distributed_c10d._WorkerServer(path) answers HTTP on a unix socket from a thread of its own, also
 * while the main thread of the rank is stuck; POST /handler/fr_trace_json gives the flight recorder as JSON
 * (seen with torch 2.13.0 and 2.14.1). The answer comes from the user's process: it is bounded and not looked
 * into. */
#ifndef INQUEST_SPANK_HARVEST_WORKER_SERVER_H
#define INQUEST_SPANK_HARVEST_WORKER_SERVER_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace inquest::harvest {

constexpr size_t kMaxFlightBytes = size_t{16} * 1024 * 1024;

/* The body of a whole HTTP response that the server ended by closing; an error unless it is 200 and complete.
 */
tl::expected<std::string, std::string> http_body(std::string_view response);

using FlightHandler = std::function<void(size_t index, tl::expected<std::string, std::string> body)>;

/* Asks all sockets (names in the directory) at the same time and hands each answer to `handle` as it arrives.
 * Returns when all have answered or at `deadline_mono_ns`; those that have not by then are handed over as
 * errors. */
void request_flight_records(int directory_fd, const std::vector<std::string>& sockets,
                            uint64_t deadline_mono_ns, const std::function<uint64_t()>& mono_ns,
                            const FlightHandler& handle);

}  // namespace inquest::harvest

#endif
