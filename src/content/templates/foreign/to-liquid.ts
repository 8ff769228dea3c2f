// Templates of foreign services in Liquid. Only tags with the same meaning are translated; any
// further tag is refused with the line. Handlebars: SendGrid, Mailgun, SES, Resend. Mustachio:
// Postmark. Go templates: listmonk.
//
//   theirs                          | ours
//   --------------------------------+----------------------------------------------------
//   {{ name }}, {{ a.b }}           | {{ name }}, {{ a.b }}
//   {{{ name }}}, {{& name }}       | {{ name | raw }}
//   {{#if a}} … {{else}} … {{/if}}  | {% if a and a != empty and a != 0 %} … {% else %} … {% endif %}
//   {{#unless a}}, {{^a}}           | {% unless a and a != empty and a != 0 %}
//   {{#each list}} … {{this.x}}     | {% for item in list %} … {{ item.x }}
//   {{#a}} … {{x}} (Mustachio)      | {% if a and a != empty and a != 0 %} … {{ a.x }}
//   {{insert a "default=b"}}        | {{ a | default: "b" }}
//   {{{a|b}}} (Resend)              | {{ a | default: "b" | raw }}
//   {{! comment }}                  | nothing
//
// Only false and nil are false in Liquid. For foreign services an empty text, an empty list and 0
// are false too.
import type { ForeignService } from './fields.ts';

/** Part of a source that Liquid cannot express. */
export interface Untranslated {
  line: number;
  /** The text of the tag, at most 80 characters. */
  text: string;
  why: string;
}

export interface Translated {
  liquid: string;
  untranslated: Untranslated[];
}

type Syntax = 'handlebars' | 'mustachio' | 'go';

const syntaxOf: Readonly<Record<ForeignService, Syntax>> = {
  sendgrid: 'handlebars',
  mailgun: 'handlebars',
  ses: 'handlebars',
  resend: 'handlebars',
  postmark: 'mustachio',
  listmonk: 'go',
};

/** An open block, and the context of names in it. */
interface Block {
  opened: string;
  end: string;
  /** Prefix of names: '' outside of blocks, `item.` in a loop, `a.` in `{{#a}}` of Mustachio. */
  prefix: string;
  /** Name of the current item; null outside of loops. */
  item: string | null;
}

const path = '[A-Za-z_][\\w-]*(?:\\.[A-Za-z_][\\w-]*)*';
const isPath = new RegExp(`^${path}$`);
const longestShown = 80;
/** Deepest nesting of blocks. */
const deepest = 20;

class Translation {
  readonly untranslated: Untranslated[] = [];
  readonly #blocks: Block[] = [];
  /** Number of open blocks that are nested too deeply to be translated. */
  #tooDeep = 0;
  #line = 1;
  readonly #fallbacks: Readonly<Record<string, string | number>>;

  constructor(fallbacks: Readonly<Record<string, string | number>>) {
    this.#fallbacks = fallbacks;
  }

  /** Translates a tag. `inner` is the text between the braces, `isRaw` true for three braces. */
  tag(source: string, inner: string, isRaw: boolean, syntax: Syntax): string {
    const text = inner.trim();
    if (text.startsWith('!')) return '';
    if (syntax === 'go') return this.#go(source, text);
    if (text.startsWith('#')) return this.#open(source, text.slice(1).trim(), syntax);
    if (text.startsWith('^') && text.length > 1)
      return this.#inverted(source, text.slice(1).trim());
    if (text.startsWith('/')) return this.#close(source);
    if (text === 'else' || text === '^') return '{% else %}';
    return this.#value(source, text, isRaw);
  }

  count(text: string): void {
    for (const one of text) if (one === '\n') this.#line += 1;
  }

  end(): void {
    for (const { opened } of this.#blocks) this.#refuse(opened, 'the block is not closed');
  }

  #refuse(source: string, why: string): string {
    this.untranslated.push({ line: this.#line, text: source.slice(0, longestShown), why });
    return '';
  }

  #push(block: Block): void {
    if (this.#blocks.length < deepest) this.#blocks.push(block);
    else {
      if (this.#tooDeep === 0) {
        this.#refuse(block.opened, `blocks are nested deeper than ${deepest}`);
      }
      this.#tooDeep += 1;
    }
  }

  #context(): Pick<Block, 'prefix' | 'item'> {
    return this.#blocks.at(-1) ?? { prefix: '', item: null };
  }

  /**
   * Returns a name of the service as a Liquid path in the open block; null without an equivalent.
   */
  #name(text: string): string | null {
    const { prefix, item } = this.#context();
    if (text === 'this' || text === '.')
      return item ?? (prefix === '' ? null : prefix.slice(0, -1));
    if (text === '@index') return item === null ? null : 'forloop.index0';
    if (text === '@first') return item === null ? null : 'forloop.first';
    if (text === '@last') return item === null ? null : 'forloop.last';
    if (text.startsWith('../')) return this.#outer(text);
    const bare = text.replace(/^(?:this[./]|\.(?=[A-Za-z_]))/, '').replaceAll('/', '.');
    return isPath.test(bare) ? prefix + bare : null;
  }

  #outer(text: string): string | null {
    const ups = text.split('../').length - 1;
    const bare = text.replaceAll('../', '');
    const around = this.#blocks.filter(
      ({ prefix }, index) => prefix !== (this.#blocks[index - 1]?.prefix ?? ''),
    );
    const prefix = around.at(-1 - ups)?.prefix ?? '';
    return ups <= around.length && isPath.test(bare) ? prefix + bare : null;
  }

  #open(source: string, text: string, syntax: Syntax): string {
    const [word = '', ...rest] = text.split(/\s+/);
    const { prefix, item } = this.#context();
    if (word === 'each') return this.#each(source, rest.join(' '));
    if (word === 'if' || word === 'unless') {
      const name = this.#name(rest.join(' '));
      if (name === null) return this.#broken(source, word);
      this.#push({ opened: source, end: `{% end${word} %}`, prefix, item });
      return `{% ${word} ${isTrue(name)} %}`;
    }
    const name = syntax === 'mustachio' && rest.length === 0 ? this.#name(word) : null;
    if (name === null) return this.#broken(source, word);
    this.#push({ opened: source, end: '{% endif %}', prefix: `${name}.`, item: null });
    return `{% if ${isTrue(name)} %}`;
  }

  #broken(source: string, word: string): string {
    this.#push({ opened: source, end: '', ...this.#context() });
    return this.#refuse(source, `${word || 'this block'} has no equal in Liquid`);
  }

  #each(source: string, list: string): string {
    const name = this.#name(list);
    if (name === null) return this.#broken(source, 'each');
    const depth = this.#blocks.filter(({ item }) => item !== null).length;
    const item = depth === 0 ? 'item' : `item${depth + 1}`;
    this.#push({ opened: source, end: '{% endfor %}', prefix: `${item}.`, item });
    return `{% for ${item} in ${name} %}`;
  }

  #inverted(source: string, text: string): string {
    const name = this.#name(text);
    if (name === null) return this.#broken(source, '^');
    this.#push({ opened: source, end: '{% endunless %}', ...this.#context() });
    return `{% unless ${isTrue(name)} %}`;
  }

  #close(source: string): string {
    if (this.#tooDeep > 0) {
      this.#tooDeep -= 1;
      return '';
    }
    const block = this.#blocks.pop();
    return block ? block.end : this.#refuse(source, 'no block is open');
  }

  #value(source: string, text: string, isRaw: boolean): string {
    const inserted = /^insert\s+(\S+)\s+"default=([^"]*)"$/.exec(text);
    if (inserted) {
      const name = this.#name(inserted[1] ?? '');
      if (name !== null) return this.#withDefault(source, name, inserted[2] ?? '', '');
    }
    const piped = isRaw ? /^([^|]+)\|(.*)$/s.exec(text) : null;
    if (piped) {
      const name = this.#name((piped[1] ?? '').trim());
      if (name !== null) return this.#withDefault(source, name, (piped[2] ?? '').trim(), ' | raw');
    }
    const isUnescaped = isRaw || text.startsWith('&');
    const bare = text.replace(/^&\s*/, '');
    const own = ownNames[bare];
    if (own) return `{{ ${own} }}`;
    const name = this.#name(bare);
    if (name === null) return this.#refuse(source, 'this expression has no equal in Liquid');
    const raw = isUnescaped ? ' | raw' : '';
    const fallback = Object.hasOwn(this.#fallbacks, name) ? this.#fallbacks[name] : undefined;
    return fallback === undefined
      ? `{{ ${name}${raw} }}`
      : this.#withDefault(source, name, fallback, raw);
  }

  /**
   * Writes a value with a fallback. Refuses a text with both kinds of quotes, `%}` or `}}`: Liquid
   * has no escapes.
   */
  #withDefault(source: string, name: string, fallback: string | number, raw: string): string {
    const text = String(fallback);
    const quote = text.includes('"') ? "'" : '"';
    if (text.includes(quote) || /[%}]\}/.test(text)) {
      return this.#refuse(source, 'this fallback has no equal in Liquid');
    }
    const value = typeof fallback === 'number' ? text : `${quote}${text}${quote}`;
    return `{{ ${name} | default: ${value}${raw} }}`;
  }

  /** Refuses a tag that only the foreign service can fill: readers would see the tag as text. */
  foreign(source: string): string {
    return this.#refuse(source, 'only the service fills this tag');
  }

  #go(source: string, text: string): string {
    const trimmed = text.replace(/^-\s+/, '').replace(/\s-$/, '').trim();
    if (trimmed.startsWith('/*')) return '';
    if (/^TrackView\b/.test(trimmed)) return '';
    if (trimmed === 'else') return '{% else %}';
    if (trimmed === 'end') return this.#close(source);
    const condition = /^if\s+(not\s+)?(\S+)$/.exec(trimmed);
    if (condition) {
      const name = goName(condition[2] ?? '');
      const word = condition[1] ? 'unless' : 'if';
      if (name === null) return this.#broken(source, 'if');
      this.#push({ opened: source, end: `{% end${word} %}`, ...this.#context() });
      return `{% ${word} ${isTrue(name)} %}`;
    }
    if (/^(?:range|with|if|block|define)\b/.test(trimmed))
      return this.#broken(source, trimmed.split(/\s/)[0] ?? '');
    const name = goName(trimmed);
    return name === null
      ? this.#refuse(source, 'this expression has no equal in Liquid')
      : `{{ ${name} }}`;
  }
}

/** Returns the condition that a value is true by the rules of the foreign services. */
function isTrue(name: string): string {
  return `${name} and ${name} != empty and ${name} != 0`;
}

/** Names of the unsubscribe link in foreign services. */
const ownNames: Readonly<Record<string, string>> = {
  unsubscribe: 'unsubscribe_url',
  'pm:unsubscribe': 'unsubscribe_url',
  pm_unsubscribe_url: 'unsubscribe_url',
  RESEND_UNSUBSCRIBE_URL: 'unsubscribe_url',
  amazonSESUnsubscribeUrl: 'unsubscribe_url',
  unsubscribe_url: 'unsubscribe_url',
};

const goNames: Readonly<Record<string, string>> = {
  '.Subscriber.Email': 'contact.email',
  '.Subscriber.Name': 'contact.name',
  '.Subscriber.FirstName': 'contact.firstName',
  '.Subscriber.LastName': 'contact.lastName',
  '.Campaign.Subject': 'subject',
  UnsubscribeURL: 'unsubscribe_url',
  'UnsubscribeURL .': 'unsubscribe_url',
};

function goName(text: string): string | null {
  const known = goNames[text];
  if (known) return known;
  const attribute = /^\.Subscriber\.Attribs\.([A-Za-z_]\w*)$/.exec(text)?.[1];
  if (attribute) return `contact.customFields.${attribute}`;
  const data = /^\.Tx\.Data\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)$/.exec(text)?.[1];
  return data ?? null;
}

/** A tag in a source: `whole` is the text of the tag, `index` the offset. */
interface Tag {
  index: number;
  whole: string;
  /** Text between three braces; undefined for further forms. */
  raw?: string;
  /** Text between two braces; undefined for further forms. */
  inner?: string;
}

const starts =
  /\{\{|<%asm_group_unsubscribe_(?:raw_)?url%>|<%[^%]*%>|\[\[?%?[a-z_]+%?\]?\]|\{%|%recipient[.\w]*%|%unsubscribe_url%/g;

/** Forms of tags in braces, in the order in which they are tried. */
const forms = [
  { open: '{{{', close: '}}}', part: 'raw' },
  { open: '{{!--', close: '--}}', part: null },
  { open: '{{', close: '}}', part: 'inner' },
] as const;

/** Finds the tags of a source from left to right, in linear time for any content. */
function* tagsOf(source: string): Generator<Tag> {
  /** Ends of tags that no longer follow, so that they are not searched again. */
  const missing = new Set<string>();
  const inBraces = (index: number): Tag | null => {
    for (const { open, close, part } of forms) {
      if (missing.has(close) || !source.startsWith(open, index)) continue;
      const from = index + open.length;
      const end = source.indexOf(close, from);
      if (end === -1) missing.add(close);
      else {
        const whole = source.slice(index, end + close.length);
        return { index, whole, ...(part !== null && { [part]: source.slice(from, end) }) };
      }
    }
    return null;
  };
  starts.lastIndex = 0;
  let found = starts.exec(source);
  while (found) {
    const { index } = found;
    const tag = found[0] === '{{' ? inBraces(index) : { index, whole: found[0] };
    if (tag) yield tag;
    starts.lastIndex = index + (tag?.whole.length ?? 1);
    found = starts.exec(source);
  }
}

/** Translates a text of a foreign template. `fallbacks` has the default values of variables. */
export function toLiquid(
  service: ForeignService,
  source: string,
  fallbacks: Readonly<Record<string, string | number>> = {},
): Translated {
  const translation = new Translation(fallbacks);
  const parts: string[] = [];
  let at = 0;
  for (const tag of tagsOf(source)) {
    const before = source.slice(at, tag.index);
    parts.push(before);
    translation.count(before);
    at = tag.index + tag.whole.length;
    if (!tag.whole.startsWith('{{!--')) parts.push(translated(translation, service, tag));
    translation.count(tag.whole);
  }
  parts.push(source.slice(at));
  translation.end();
  return { liquid: parts.join(''), untranslated: translation.untranslated };
}

function translated(translation: Translation, service: ForeignService, tag: Tag): string {
  const { whole, raw, inner } = tag;
  if (raw !== undefined) return translation.tag(whole, raw, true, syntaxOf[service]);
  if (inner !== undefined) return translation.tag(whole, inner, false, syntaxOf[service]);
  if (whole === '{%') return '{{ "{%" }}';
  if (/unsubscribe/.test(whole)) return '{{ unsubscribe_url }}';
  const variable = service === 'mailgun' && /^%recipient\.(\w+)%$/.exec(whole)?.[1];
  if (variable) return translation.tag(whole, variable, false, 'handlebars');
  const isForeign = service === 'sendgrid' ? whole.startsWith('<%') : whole.startsWith('%');
  return isForeign && ['sendgrid', 'mailgun'].includes(service)
    ? translation.foreign(whole)
    : whole;
}
