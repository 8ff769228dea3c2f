// Reads the field blocks of machine-readable reports (RFC 3464 2.1, RFC 5965 3): header-like lines,
// folded, in groups separated by empty lines. Callers interpret the fields.
import { parseAddress } from '../../../platform/net/address.ts';
import { parseAddressList } from '../../mime/headers/header-addresses.ts';
import { cleanLine } from '../../mime/headers/header-fields.ts';

/** A group of fields: `first` and `all` return the values of a lower-case name. */
export interface ReportBlock {
  first(name: string): string | null;
  all(name: string): string[];
  has(name: string): boolean;
}

const maxFields = 2000;
const maxFieldCharacters = 8192;
const field = /^([A-Za-z][A-Za-z0-9-]{0,60})[ \t]{0,8}:(.*)$/;

class Block implements ReportBlock {
  readonly #values = new Map<string, string[]>();
  #last: { values: string[] } | null = null;

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const values = this.#values.get(key) ?? [];
    this.#values.set(key, values);
    values.push(value);
    this.#last = { values };
  }

  /**
   * Appends a folded line. A line without a field name also counts as folded, because broken
   * systems wrap lines this way.
   */
  continue(line: string): void {
    const values = this.#last?.values;
    const value = values?.pop();
    if (value === undefined) return;
    values?.push(value.length > maxFieldCharacters ? value : `${value} ${line.trim()}`);
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  first(name: string): string | null {
    return this.all(name)[0] ?? null;
  }

  all(name: string): string[] {
    return (this.#values.get(name) ?? []).map((value) =>
      cleanLine(value.slice(0, maxFieldCharacters)),
    );
  }
}

/**
 * Returns the blocks in their order. A repeated field of `openers` begins a new block: some systems
 * omit the empty line between recipients.
 */
export function readReportBlocks(text: string, openers: readonly string[] = []): ReportBlock[] {
  const blocks: Block[] = [];
  let block = new Block();
  const close = () => {
    if (!block.isEmpty) blocks.push(block);
    block = new Block();
  };
  let fields = 0;
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') {
      close();
      continue;
    }
    const [, name, value = ''] = field.exec(line) ?? [];
    if (name === undefined) {
      block.continue(line);
      continue;
    }
    fields += 1;
    if (fields > maxFields) break;
    if (openers.includes(name.toLowerCase()) && block.has(name.toLowerCase())) close();
    block.add(name, value);
  }
  close();
  return blocks;
}

/** Removes the leading `type;` of a value (`dns; mx.example.net`, `smtp; 550 …`). */
export function withoutType(value: string): string {
  return value.replace(/^[A-Za-z0-9_.-]{1,40}[ \t]{0,8};/, '').trim();
}

/** Decodes `\x{…}` of utf-8-addr-xtext (RFC 6533 3). */
function decodeUnicode(text: string): string {
  return text.replace(/\\x\{([0-9A-Fa-f]{2,6})\}/g, (whole, digits: string) => {
    const point = Number.parseInt(digits, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}

/** Returns the address in `rfc822; joe@example.net`, `rfc822; <joe@…>` and the like, or null. */
export function readReportAddress(value: string | null): string | null {
  if (value === null) return null;
  const bare = decodeUnicode(withoutType(value));
  const parsed = parseAddress(bare) ?? null;
  return parsed?.email ?? parseAddressList(bare).addresses[0]?.email ?? null;
}

/** Removes an address at the end of a cut text, because it may be incomplete. */
export function withoutCutAddress(text: string): string {
  const start = Math.max(...[' ', '\t', '\n', ';', ':'].map((one) => text.lastIndexOf(one))) + 1;
  return text.includes('@', start) ? text.slice(0, start) : text;
}
