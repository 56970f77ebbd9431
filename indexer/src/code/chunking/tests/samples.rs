//! A small piece of every language, for all tests that go through the languages.

pub(super) const RUST: &str = r##"//! Module text.

use std::fmt;

/// How many.
const LIMIT: usize = 3;

/// A log.
#[derive(Debug)]
pub struct Log<T> {
    events: Vec<T>,
}

impl<T> Log<T> {
    /// Appends an event.
    #[inline]
    pub fn append(&mut self, event: T) -> usize {
        self.events.push(event);
        self.events.len()
    }

    fn len(&self) -> usize {
        fn inner() {}
        self.events.len()
    }
}

impl<T> fmt::Display for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"{} "events""#, self.len())
    }
}

mod deep {
    pub(crate) trait Follow {
        fn follow(&self);
    }
    macro_rules! twice {
        ($it:expr) => { $it; $it };
    }
}
"##;

pub(super) const PYTHON: &str = r#""""Module text."""
import os

LIMIT = 3

@decorated(by="me")
# why it is so
class Log(Base):
    """A log."""

    limit = LIMIT

    def append(self, event: str) -> int:
        """Appends."""
        def inner():
            return f"{event!r:>{self.limit}}"
        return inner()

    @property
    async def length(self):
        return len(self.events)


def outer(
    first,
    second=None,
):
    return first if second is None else second
"#;

pub(super) const TYPESCRIPT: &str = r"import { A } from './a';

/** A log. */
@Injectable()
export abstract class Log<T extends object> {
  private events: T[] = [];

  constructor(readonly limit: number) {}

  /** Appends. */
  append = async (event: T): Promise<void> => {
    this.events.push(event);
  };

  get length(): number {
    return this.events.length;
  }
}

export interface Follow {
  follow(from: number): void;
}

export type Kind = 'a' | 'b';

export enum Level {
  Low,
  High,
}

namespace deep {
  export function inner(): string {
    return `x ${1 + 2} y`;
  }
}

export const arrow = (a: number) =>
  a + 1;

export default function main() {
  return arrow(1);
}
";

pub(super) const TSX: &str = r#"// The list.
export function List({ items }: { items: string[] }) {
  return <ul className="list">{items.map((it) => <li key={it}>{it} &amp; more</li>)}</ul>;
}

export const Item: React.FC<Props> = ({ name }) => {
  return <b>{name}</b>;
};
"#;

pub(super) const JAVASCRIPT: &str = r"'use strict';
/* Says hello. */
function hello(name) {
  return `hello ${name.replace(/[/\]]/g, '')}`;
}

class Log {
  #events = [];
  static of(...events) {
    return new Log();
  }
  async *[Symbol.iterator]() {
    yield* this.#events;
  }
}

module.exports.parse = function (text) {
  return JSON.parse(text);
};

const api = {
  start: () => {
    return 1;
  },
  stop() {
    return 2;
  },
};
<!-- an old comment
";

pub(super) const GO: &str = r"package log

import (
	`fmt`
)

// Log is a log.
// It appends.
type Log[T any] struct {
	events []T
}

type (
	// Kind is one.
	Kind int
	Level string
)

// Append appends.
func (l *Log[T]) Append(event T) int {
	f := func() {}
	f()
	l.events = append(l.events, event)
	return len(l.events)
}

func main() {
	fmt.Println(`raw
string`)
}
";

pub(super) const JAVA: &str = r#"package org.example;

import java.util.List;

/** A log. */
@Deprecated
public class Log<T> implements Follow {
    private final List<T> events;

    /** Makes one. */
    public Log(List<T> events) {
        this.events = events;
    }

    // Appends.
    @Override
    public int append(T event) {
        return events.size() + """
            text \""" block""".length();
    }

    enum Level {
        LOW, HIGH;
    }

    interface Follow {
        void follow();
    }
}

record Point(int x, int y) {
}
"#;

pub(super) const C: &str = r#"/* A log. */
#include <stdio.h>
#define TWICE(x) \
  ((x) * 2)

struct log {
    int count;
    char *events[3];
};

typedef struct {
    int x;
} point_t;

enum level { LOW, HIGH };

/* Appends. */
static int *append(struct log *log, const char *event)
{
    struct log *mentioned = log;
    return &mentioned->count;
}

#ifdef DEEP
int (*pick(void))(int)
{
    return 0;
}
#endif
"#;

pub(super) const CPP: &str = r#"#pragma once
#include <vector>

namespace deep::er {

/// A log.
template <typename T>
class Log : public Base<T> {
 public:
  Log() = default;
  ~Log() {
    clear();
  }
  int append(const T &event) {
    return R"sign(raw "string")sign"[0];
  }
  bool operator==(const Log &other) const {
    return true;
  }
};

template <typename T>
int length(const Log<T> &log) {
  return 0;
}

}  // namespace deep::er

int Log::outside(int a) {
  return a;
}

enum class Level { Low, High };

using Name = std::string;
"#;

pub(super) const C_SHARP: &str = r#"using System;

namespace Example.Deep
{
    /// <summary>A log.</summary>
    [Serializable]
    public class Log<T> : IFollow where T : class
    {
        private readonly T[] events;

        public Log(T[] events)
        {
            this.events = events;
        }

        // Appends.
        public int Append(T item) =>
            $"{item} {{x}} {events.Length:N0} {$@"a{1}"}".Length;

        public int Length
        {
            get { return events.Length; }
        }
    }

    public interface IFollow
    {
        void Follow();
    }

    enum Level
    {
        Low,
        High,
    }
}
"#;

pub(super) const RUBY: &str = r##"# frozen_string_literal: true

require "set"

module Deep
  # A log.
  class Log < Base
    attr_reader :events

    # Appends.
    def append(event)
      @events << event
      text = <<~TEXT
        #{event} is %w[a b]
      TEXT
      text
    end

    def self.of(*events)
      new.tap { |log| events.each { |it| log << it } }
    end

    class << self
      def empty?
        /#{1}[x]/i.match?("x")
      end
    end
  end
end

def top(a)
  a ? "#{a}" : %q(b)
end
"##;

pub(super) const PHP: &str = r#"<html><?php
namespace Example\Deep;

use Some\Thing;

/** A log. */
#[Attribute]
final class Log extends Base
{
    private array $events = [];

    /** Appends. */
    public function append(string $event): int
    {
        $this->events[] = <<<TEXT
        {$event} is ${here} and $this->name[0]
        TEXT;
        return count($this->events);
    }
}

interface Follow
{
    public function follow(): void;
}

function top(int ...$a): ?int
{
    return $a[0] ?? null;
}
?>
</html>
"#;

pub(super) const BASH: &str = r#"#!/usr/bin/env bash
set -euo pipefail

# Says hello.
hello() {
  local name="${1:-world}"
  cat <<EOF
hello ${name//x/y} $((1 + 2))
EOF
}

function main {
  case "$1" in
    a|b) hello "$@" ;;
    *) echo 'no' >&2 ;;
  esac
  if [[ $1 =~ ^[a-z]+$ ]]; then
    for it in {1..3}; do echo "$it"; done
  fi
}
main "$@"
"#;

pub(super) const MARKDOWN: &str = "---
title: x
---
Before.

# Title

Text of *the* title.

## Part `one`

```sh
# no heading
```

- # no heading

Part two
--------

Text.

### Deep

More.

# Other
";

/// All of them, by a name with the right ending.
pub(super) const ALL: [(&str, &str); 14] = [
    ("sample.rs", RUST),
    ("sample.py", PYTHON),
    ("sample.ts", TYPESCRIPT),
    ("sample.tsx", TSX),
    ("sample.js", JAVASCRIPT),
    ("sample.go", GO),
    ("sample.java", JAVA),
    ("sample.c", C),
    ("sample.cpp", CPP),
    ("sample.cs", C_SHARP),
    ("sample.rb", RUBY),
    ("sample.php", PHP),
    ("sample.sh", BASH),
    ("sample.md", MARKDOWN),
];
