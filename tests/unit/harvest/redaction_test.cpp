#include "spank/harvest/redaction.h"

#include "tests/unit/catch.h"

using inquest::harvest::redact_secrets;

TEST_CASE("secrets are replaced") {
    const std::pair<const char*, const char*> cases[] = {
        {"HF_TOKEN=abc123 next", "HF_TOKEN=<redacted> next"},
        {"password: hunter2", "password: <redacted>"},
        {"{\"api_key\": \"abc def\", \"lr\": 1}", "{\"api_key\": \"<redacted>\", \"lr\": 1}"},
        {"--wandb-api-key=0123456789", "--wandb-api-key=<redacted>"},
        {"Authorization: Bearer abcdefghijklmnopqrst", "Authorization: Bearer <redacted>"},
        {"token: Bearer abcdefghijklmnopqrst", "token: Bearer <redacted>"},
        {"using hf_abcdefghijklmnopqrstuv now", "using <redacted> now"},
        {"clone https://ada:pass:word@host/x", "clone https://ada:<redacted>@host/x"},
        {"AWS_SECRET_ACCESS_KEY=x", "AWS_SECRET_ACCESS_KEY=<redacted>"},
    };
    for (const auto& [text, expected] : cases)
        CHECK(redact_secrets(text) == expected);
}

TEST_CASE("private keys are replaced line by line") {
    CHECK(redact_secrets("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb\n") ==
          "a\n<redacted>\n<redacted>\n<redacted>\nb\n");
}

TEST_CASE("ordinary text stays as it is") {
    for (const char* text :
         {"", "\n", "step 7 tokens: 4096 num_tokens=12\n", "tokenizer: gpt2",
          "basic block at http://host:80/x",
          "RuntimeError: [../third_party/gloo/pair.cc:534] Connection closed by peer [10.0.0.1]:4711",
          "sk-learn", "a=b:c"})
        CHECK(redact_secrets(text) == text);
}
