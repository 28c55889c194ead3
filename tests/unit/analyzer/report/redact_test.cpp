#include "analyzer/report/sanitize.h"
#include "tests/unit/catch.h"

using inquest::report::redact;

TEST_CASE("secrets are hidden") {
    CHECK(redact("export WANDB_API_KEY=0123456789abcdef end") == "export WANDB_API_KEY=[redacted] end");
    CHECK(redact("password: hunter2, user: ada") == "password: [redacted], user: ada");
    CHECK(redact("{\"client_secret\": \"x y\"}") == "{\"client_secret\": \"[redacted] y\"}");
    CHECK(redact("--db-password=abc") == "--db-password=[redacted]");
    CHECK(redact("HF hf_abcdefghijklmnopqrstuvwx1") == "HF [redacted]");
    CHECK(redact("AWS AKIAIOSFODNN7EXAMPLE1 x") == "AWS [redacted] x");
    CHECK(redact("Authorization: Bearer abc.def") == "Authorization: [redacted]");
    CHECK(redact("\"Authorization\": \"ApiKey abc\", x") == "\"Authorization\": \"[redacted]\", x");
    CHECK(redact("HF_TOKEN=hf_abcdefghijklmnop next") == "HF_TOKEN=[redacted] next");
    CHECK(redact("token=abcdef") == "token=[redacted]");
    CHECK(redact("key ghp_0123456789abcdef0123") == "key [redacted]");
    CHECK(redact("git clone https://ada:pw@host/x") == "git clone https://[redacted]@host/x");
    CHECK(redact("token=a1b2c3d4e5f6a7b8c9") == "token=[redacted]");
}

TEST_CASE("the words of language models stay") {
    for (const char* text :
         {"tokens: 4096", "num_tokens=123", "pad_token=<pad>", "eos_token: </s>",
          "token = 1234567890123456789", "Rank 3: 2 secrets found", "https://host/path?x=1", "user@host:22",
          "password", "password: None", "authorization failed", "lr=0.1 step=7",
          "3 tokens per step; token count", "sk-learn", "eyJ",
          "[rank0]:[E1122 06:40:00.504052851 ProcessGroupNCCL.cpp:616] [Rank 0] x"}) {
        CHECK(redact(text) == text);
    }
}

TEST_CASE("long hostile text takes linear time") {
    std::string text;
    for (int i = 0; i < 200'000; ++i)
        text += "token=";
    CHECK(redact(text) == "token=[redacted]");
    text.clear();
    for (int i = 0; i < 200'000; ++i)
        text += "token=<p> ";
    CHECK(redact(text) == text);
    CHECK(redact(std::string(1'000'000, 'a')).size() == 1'000'000);
    text.clear();
    for (int i = 0; i < 200'000; ++i)
        text += "a/";
    CHECK(redact(text) == text);
}
