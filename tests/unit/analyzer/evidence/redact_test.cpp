#include "analyzer/evidence/redact.h"

#include "tests/unit/catch.h"

using inquest::evidence::redact_secrets;

TEST_CASE("secrets are hidden") {
    CHECK(redact_secrets("export WANDB_API_KEY=0123456789abcdef end") ==
          "export WANDB_API_KEY=[redacted] end");
    CHECK(redact_secrets("password: hunter2, user: ada") == "password: [redacted], user: ada");
    CHECK(redact_secrets("{\"client_secret\": \"x y\"}") == "{\"client_secret\": \"[redacted] y\"}");
    CHECK(redact_secrets("--db-password=abc") == "--db-password=[redacted]");
    CHECK(redact_secrets("HF hf_abcdefghijklmnopqrstuvwx1") == "HF [redacted]");
    CHECK(redact_secrets("AWS AKIAIOSFODNN7EXAMPLE1 x") == "AWS [redacted] x");
    CHECK(redact_secrets("Authorization: Bearer abc.def") == "Authorization: Bearer [redacted]");
    CHECK(redact_secrets("git clone https://ada:pw@host/x") == "git clone https://[redacted]@host/x");
    CHECK(redact_secrets("token=a1b2c3d4e5f6a7b8c9") == "token=[redacted]");
}

TEST_CASE("the words of language models stay") {
    for (const char* text :
         {"tokens: 4096", "num_tokens=123", "pad_token=<pad>", "eos_token: </s>",
          "token = 1234567890123456789", "Rank 3: 2 secrets found", "https://host/path?x=1", "user@host:22",
          "password", "password: None", "sk-learn", "eyJ",
          "[rank0]:[E1122 06:40:00.504052851 ProcessGroupNCCL.cpp:616] [Rank 0] x"}) {
        CHECK(redact_secrets(text) == text);
    }
}

TEST_CASE("long hostile text takes linear time") {
    std::string text;
    for (int i = 0; i < 200'000; ++i)
        text += "token=";
    CHECK(redact_secrets(text).size() >= text.size() / 2);
    CHECK(redact_secrets(std::string(1'000'000, 'a')).size() == 1'000'000);
    text.clear();
    for (int i = 0; i < 200'000; ++i)
        text += "a/";
    CHECK(redact_secrets(text) == text);
}
