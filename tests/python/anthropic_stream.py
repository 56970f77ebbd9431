"""Streams a conversation with thinking and tool use from a scripted Claude server, with the vendor's own package.

Usage: anthropic_stream.py BASE_URL [API_KEY]   (the server plays anthropic_stream.toml)

It shows that the scripted server speaks the real protocol: the package parses every event, retries an injected 529 by
itself, sends thinking and tool calls back, and is refused where the real API refuses. Exits with 0 when all of it holds.
"""

import sys

import anthropic

MODEL = "claude-opus-5-5"
TOOLS = [
    {
        "name": "count_lines",
        "description": "Counts the lines of a file.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
    {"name": "list_dir", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
]
SYSTEM = [{"type": "text", "text": "You count lines. " * 400, "cache_control": {"type": "ephemeral"}}]


def ask(client, messages, **changes):
    """Streams one answer; returns the message and the text that came as deltas."""
    request = {
        "model": MODEL,
        "max_tokens": 2000,
        "system": SYSTEM,
        "tools": TOOLS,
        "thinking": {"type": "adaptive", "display": "summarized"},
        "messages": messages,
    }
    request.update(changes)
    with client.messages.stream(**request) as stream:
        text = "".join(stream.text_stream)
        return stream.get_final_message(), text


def check(condition, what):
    if not condition:
        raise SystemExit(f"failed: {what}")
    print(f"ok: {what}")


def refused(client, what, messages, expected, **changes):
    """The server must answer 400 (or the like) with the API's error."""
    try:
        ask(client, messages, **changes)
    except anthropic.APIStatusError as error:
        check(expected in error.message and error.body["type"] == "error", f"{what}: {error.status_code}")
        return
    raise SystemExit(f"failed: {what} was accepted")


def compaction(client, history, second):
    """A summary on demand, and the conversation that goes on behind it with its thinking."""
    beta = "compact-2026-09-04"
    model = client.beta.models.retrieve(MODEL, betas=[beta])
    check(model.capabilities.compaction.summarize.supported, "the model is said to write summaries")

    def send(messages, betas=(beta,), **changes):
        request = {"model": MODEL, "max_tokens": 2000, "system": SYSTEM, "tools": TOOLS, "messages": messages}
        return client.beta.messages.create(**request, betas=list(betas), **changes)

    wish = {"type": "summarize"}
    older = history[:1]
    summary = send(older, compaction=wish)
    check(summary.stop_reason == "compaction", "a summary is written")
    block = summary.content[0]
    check(block.type == "compaction" and "How many lines" in block.content and bool(block.signature), "it is one signed block")
    part = summary.usage.iterations[0]
    check(part.type == "compaction" and part.output_tokens > 0 and summary.usage.output_tokens == 0, "its usage is listed apart")
    with client.beta.messages.stream(
        model=MODEL, max_tokens=2000, system=SYSTEM, tools=TOOLS, messages=older, betas=[beta], compaction=wish
    ) as stream:
        streamed = stream.get_final_message()
    check(streamed.content[0] == block and streamed.stop_reason == "compaction", "the same with streaming")

    behind = [{"role": "assistant", "content": summary.content}] + history[1:]
    answer = send(behind)
    check(answer.content[-1].text == "It has 42 lines." and answer.id == second.id, "kept turns are answered behind it, thinking and all")

    def declined(what, expected, code, messages, **changes):
        try:
            send(messages, **changes)
        except anthropic.BadRequestError as error:
            details = error.body["error"].get("details") or {}
            check(expected in error.message and details.get("error_code") == code, f"{what}: {error.status_code}")
            return
        raise SystemExit(f"failed: {what} was accepted")

    altered = [{"role": "assistant", "content": [{**block.to_dict(), "content": "something else"}]}] + history[1:]
    declined("an altered summary", "content", "compaction_content_mismatch", altered)
    declined("a summary in the wrong place", "must be sent first", "compaction_block_misplaced", history[:1] + behind)
    declined("a wish without the header", "requires anthropic-beta", None, older, betas=(), compaction=wish)
    declined("a block without the header", "does not match", None, behind, betas=())
    declined("a wish with an open call", "`tool_use` ids were found", None, history[:2], compaction=wish)


def main():
    base_url = sys.argv[1]
    key = sys.argv[2] if len(sys.argv) > 2 else "scripted-key"
    client = anthropic.Anthropic(api_key=key, base_url=base_url, max_retries=2)

    models = [model.id for model in client.models.list()]
    check(MODEL in models, f"{len(models)} models are listed")

    messages = [{"role": "user", "content": "How many lines has src/a.rs?"}]
    tokens = client.messages.count_tokens(model=MODEL, messages=messages, system=SYSTEM, tools=TOOLS).input_tokens
    check(tokens > 1000, f"{tokens} tokens are counted")

    first, text = ask(client, messages)
    thinking, words, count, listing = first.content
    check(first.stop_reason == "tool_use", "the answer stops for tools, after a retried 529")
    check(thinking.type == "thinking" and thinking.thinking == "Ich schaue in src/a.rs nach. 数えます。", "thinking is whole")
    check(bool(thinking.signature), "thinking is signed")
    check(words.text == text == "Let me count the lines of src/a.rs. 🦀", "text is whole, split anywhere")
    check(count.input == {"path": "src/a.rs", "options": {"blank": False}}, "tool input is parsed")
    check(listing.name == "list_dir" and listing.input == {}, "an empty tool input is an empty object")
    check(count.id != listing.id and count.id.startswith("toolu_"), "tool ids differ")
    written = first.usage.cache_creation_input_tokens
    check(written > 1000 and first.usage.cache_read_input_tokens == 0, f"{written} tokens are written to the cache")
    check(first.usage.cache_creation.ephemeral_1h_input_tokens == 0, "a prefix below the minimum is not cached")

    results = [
        {"type": "tool_result", "tool_use_id": count.id, "content": "42 lines"},
        {"type": "tool_result", "tool_use_id": listing.id, "content": [{"type": "text", "text": "denied"}], "is_error": True},
    ]
    history = messages + [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    second, text = ask(client, history)
    check(second.stop_reason == "end_turn" and text == "It has 42 lines.", "the results are answered")
    check(second.usage.cache_read_input_tokens == written, "the cached prefix is read")

    whole = client.messages.create(model=MODEL, max_tokens=2000, system=SYSTEM, tools=TOOLS, messages=history)
    check(whole.content[-1].text == "It has 42 lines." and whole.id == second.id, "the same without streaming")
    check(whole.content[0].thinking == "" and whole.content[0].signature, "thinking is left out unless it is asked for")

    refused(client, "a missing tool result", history[:2] + [{"role": "user", "content": results[:1]}], "`tool_use` ids were found")
    refused(client, "an altered prefix", [{"role": "user", "content": "How many?"}] + history[1:], "different conversation")
    refused(client, "altered tools", history, "different conversation", tools=TOOLS[:1])
    refused(client, "too many tokens", messages, "maximum allowed number of output tokens", max_tokens=1_000_000)
    refused(client, "a model that is none", messages, "model: claude-nonsense", model="claude-nonsense")
    compaction(client, history, second)
    try:
        ask(anthropic.Anthropic(api_key="wrong", base_url=base_url), messages)
    except anthropic.AuthenticationError:
        print("ok: a wrong key")
    else:
        raise SystemExit("failed: a wrong key was accepted")
    print("all is well")


main()
