#include "analyzer/evidence/zstd_bytes.h"

#include <zstd.h>

#include <memory>

#include "analyzer/evidence/text.h"

namespace inquest::evidence {

namespace {

constexpr std::string_view kMagic = "\x28\xB5\x2F\xFD";
constexpr size_t kChunkBytes = size_t{128} * 1024;
constexpr int kMostWindowLog = 27;  // 128 MiB: what the zstd program reads without --long

struct StreamDeleter {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};
using Stream = std::unique_ptr<ZSTD_DStream, StreamDeleter>;

}  // namespace

bool is_zstd(std::string_view bytes) {
    return starts_with(bytes, kMagic);
}

Decompressed decompress_zstd(std::string_view bytes, uint64_t limit_bytes) {
    Decompressed result;
    const Stream stream(ZSTD_createDStream());
    ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, kMostWindowLog);
    std::string chunk(kChunkBytes, '\0');
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    size_t pending = 0;  // what the decoder still wants to finish its frame; 0 between frames
    while (in.pos < in.size || pending != 0) {
        ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
        pending = ZSTD_decompressStream(stream.get(), &out, &in);
        if (ZSTD_isError(pending) != 0U) {
            result.error = std::string("zstd: ") + ZSTD_getErrorName(pending);
            return result;
        }
        result.data.append(chunk, 0, out.pos);
        if (result.data.size() > limit_bytes) {
            result.data.resize(limit_bytes);
            result.error = "larger than the limit when decompressed; the rest was left out";
            return result;
        }
        if (in.pos == in.size && out.pos < chunk.size() && pending != 0) {
            result.error = "zstd: truncated";
            return result;
        }
    }
    return result;
}

}  // namespace inquest::evidence
