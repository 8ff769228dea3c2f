// Hostile texts for a regular expression: texts that it matches, their beginnings and parts,
// repeated up to a length. A text that almost matches at each place costs the most.

/** Returns a number from 0 to 1. */
export type Random = () => number;

/** A generator of numbers by Park and Miller, for attacks that are the same in each run. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const palette = [...'aAxz05 \t.-_@<>:;,/"\'()[]éя中\u0000'];
const mostRepeats = 60;
const characters: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  f: '\f',
  v: '\v',
};

/** Writes texts that a pattern matches. Ignores what lookarounds forbid. */
class Sampler {
  readonly #source: string;
  readonly #flags: string;
  readonly #random: Random;
  #at = 0;

  constructor({ source, flags }: RegExp, random: Random) {
    this.#source = source;
    this.#flags = flags.replace(/[gy]/g, '');
    this.#random = random;
  }

  sample(): string {
    this.#at = 0;
    return this.#alternatives();
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }

  #next(): string {
    return this.#source[this.#at] ?? '';
  }

  #alternatives(): string {
    const all = [this.#sequence()];
    while (this.#next() === '|') {
      this.#at += 1;
      all.push(this.#sequence());
    }
    return this.#pick(all) ?? '';
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#source.length && !'|)'.includes(this.#next())) {
      const start = this.#at;
      const first = this.#atom();
      const end = this.#at;
      const count = this.#count();
      const after = this.#at;
      for (let done = 0; done < count; done += 1) {
        this.#at = start;
        text += done === 0 ? first : this.#atom();
      }
      this.#at = Math.max(after, end);
    }
    return text;
  }

  /** Reads a quantifier and returns its least, its greatest or another number. */
  #count(): number {
    const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(
      this.#source.slice(this.#at, this.#at + 20),
    );
    if (!found) return 1;
    this.#at += found[0].length;
    const [, sign, least = sign === '+' ? '1' : '0', comma, greatest = ''] = found;
    const min = Number(least);
    const open = sign === '?' ? 1 : mostRepeats;
    const max =
      comma === '' ? min : Math.min(greatest === '' ? open : Number(greatest), mostRepeats);
    return this.#pick([min, max, min + Math.floor(this.#random() * (max - min + 1))]) ?? min;
  }

  #atom(): string {
    const character = this.#next();
    if (character === '(') return this.#group();
    if (character === '[') return this.#member(this.#classText());
    if (character === '\\') return this.#escape();
    this.#at += 1;
    if (character === '.') return this.#member('.');
    return '^$'.includes(character) ? '' : character;
  }

  #group(): string {
    const open = /^\((?:\?(?:<[A-Za-z]\w*>|<?[=!]|[a-z-]*:))?/.exec(this.#source.slice(this.#at));
    const [start = '('] = open ?? [];
    this.#at += start.length;
    const text = this.#alternatives();
    this.#at += 1;
    return start.endsWith('!') ? '' : text;
  }

  #classText(): string {
    const start = this.#at;
    let depth = 0;
    do {
      if (this.#next() === '\\') this.#at += 1;
      else if (this.#next() === '[' && (depth === 0 || this.#flags.includes('v'))) depth += 1;
      else if (this.#next() === ']') depth -= 1;
      this.#at += 1;
    } while (depth > 0);
    return this.#source.slice(start, this.#at);
  }

  #member(text: string): string {
    const pattern = new RegExp(`^${text}$`, this.#flags);
    const own = [...text].filter((one) => pattern.test(one));
    return this.#pick([...palette.filter((one) => pattern.test(one)), ...own]) ?? '';
  }

  #escape(): string {
    const rest = this.#source.slice(this.#at, this.#at + 40);
    const [whole = '', code] =
      /^\\(?:u\{([\da-f]+)\}|[pP]\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|k<\w+>|[\s\S])/iu.exec(rest) ??
      [];
    this.#at += whole.length;
    const letter = whole[1] ?? '';
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    if (/[ux]/.test(letter) && whole.length > 2) {
      return String.fromCharCode(Number.parseInt(whole.slice(2), 16));
    }
    if (/[dDwWsSpP]/.test(letter)) return this.#member(whole);
    if (/[bBk1-9]/.test(letter)) return '';
    return characters[letter] ?? (letter === '0' ? '\0' : letter);
  }
}

function repeated(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

/** Writes `count` hostile texts of `length` characters. */
export function* attacksOn(
  pattern: RegExp,
  { length, count, random }: { length: number; count: number; random: Random },
): Generator<string> {
  const sampler = new Sampler(pattern, random);
  for (let made = 0; made < count; made += 1) {
    const whole = sampler.sample();
    const from = made % 3 === 2 ? Math.floor(random() * whole.length) : 0;
    const to =
      made % 3 === 0 ? whole.length : from + 1 + Math.floor(random() * (whole.length - from));
    const pump = whole.slice(from, to) || 'a';
    const start = made % 2 === 0 ? '' : sampler.sample().slice(0, length / 2);
    yield `${start}${repeated(pump, Math.max(1, length - start.length - 1))}\0`;
  }
}
