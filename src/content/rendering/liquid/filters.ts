// The filters of templates: the filters of Shopify's Liquid that need no file, network or
// randomness. A guard counts the input of each filter, because liquidjs counts some input too late
// or not at all.
import { type Liquid, filters as library } from 'liquidjs';
import { FillBoundError, liquidBounds, Markup } from './bounds.ts';
import { contextOf, type FilterContext } from './context.ts';
import { escapeHtml } from './escape.ts';

type Handler = (this: FilterContext, value: unknown, ...args: unknown[]) => unknown;

/** Filters of liquidjs that are used unchanged, except for the guard. */
const plain = [
  ...['abs', 'append', 'array_to_sentence_string', 'at_least', 'at_most', 'base64_decode'],
  ...['base64_encode', 'capitalize', 'ceil', 'compact', 'concat', 'default', 'divided_by'],
  ...['downcase', 'find', 'find_index', 'first', 'floor', 'group_by', 'has', 'join', 'last'],
  ...['lstrip', 'map', 'minus', 'modulo', 'normalize_whitespace', 'number_of_words', 'plus'],
  ...['prepend', 'reject', 'remove', 'remove_first', 'remove_last', 'replace', 'replace_first'],
  ...['replace_last', 'reverse', 'round', 'rstrip', 'sha256', 'size', 'slice', 'slugify', 'sort'],
  ...['sort_natural', 'split', 'squish', 'strip', 'strip_html', 'strip_newlines', 'sum', 'times'],
  ...['to_integer', 'truncate', 'truncatewords', 'uniq', 'upcase', 'where'],
] as const;

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.map(textOf).join('') : String(value);
};

const withoutDrop = (value: unknown) => (value instanceof Markup ? value.valueOf() : value);

/** Longest format of `date`, and the largest width of padding in it. */
const dateBounds = { format: 200, width: 32 };

function date(this: FilterContext, value: unknown, format: unknown, zone: unknown): unknown {
  const pattern = textOf(format);
  const widths = [...pattern.matchAll(/%[-_0^#:]*(\d+)/g)].map(([, width]) => Number(width));
  if (pattern.length > dateBounds.format || widths.some((width) => width > dateBounds.width)) {
    throw new FillBoundError(
      `a format of date has at most ${dateBounds.format} characters and pads to ${dateBounds.width}`,
    );
  }
  // `now` is the time of the message, so that preview and send agree.
  const isNow = value === 'now' || value === 'today';
  const time = isNow ? contextOf(this.context).run.now : value;
  return (library.date as Handler).call(this, time, format, zone);
}

function encoded(encode: (text: string) => string): Handler {
  return (value) => encode(textOf(value).toWellFormed());
}

function decodeUrl(value: unknown): string {
  const text = textOf(value);
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&#34;': '"',
  '&quot;': '"',
  '&#39;': "'",
};
const ownFilters: Record<string, Handler> = {
  cgi_escape: encoded((text) =>
    encodeURIComponent(text)
      .replaceAll('%20', '+')
      .replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`),
  ),
  date,
  uri_escape: encoded((text) => encodeURI(text).replaceAll('%5B', '[').replaceAll('%5D', ']')),
  url_decode: decodeUrl,
  url_encode: encoded((text) => encodeURIComponent(text).replaceAll('%20', '+')),
};

const unescaped = (value: unknown) =>
  textOf(value).replace(/&(?:amp|lt|gt|quot|#34|#39);/g, (one) => entities[one] ?? one);

/** Filters that return HTML, which is not escaped again; in text parts they return plain text. */
const htmlFilters: Record<string, { text: (value: unknown) => string; breaks?: true }> = {
  escape: { text: textOf },
  escape_once: { text: unescaped },
  newline_to_br: { text: textOf, breaks: true },
  xml_escape: { text: textOf },
};

function guarded(handler: Handler, intoObjects = false): Handler {
  return function (value, ...args) {
    const { budget } = contextOf(this.context).run;
    for (const one of [value, ...args]) budget.useText(withoutDrop(one), intoObjects);
    const made = handler.call(this, withoutDrop(value), ...args.map(withoutDrop));
    if (typeof made === 'string' && made.length > liquidBounds.value) {
      throw new FillBoundError(`a value has at most ${liquidBounds.value} characters`);
    }
    return made;
  };
}

const json: Handler = (value) => JSON.stringify(value ?? null);

/**
 * Registers only the filters of templates. `raw` converts the input of the filter `raw` in text
 * parts; null refuses that filter.
 */
export function registerFilters(
  engine: Liquid,
  kind: 'html' | 'text',
  raw: ((html: string) => string) | null,
): void {
  for (const name of Object.keys(engine.filters)) engine.unregisterFilter(name);
  const add = (name: string, handler: Handler, isRaw = false) => {
    // With `raw` set, liquidjs does not escape the result again.
    engine.registerFilter(name, isRaw ? { raw: true, handler } : handler);
  };
  for (const name of plain) add(name, guarded(library[name] as Handler));
  for (const [name, handler] of Object.entries(ownFilters)) add(name, guarded(handler));
  add('json', guarded(json, true));
  const markup = (text: string, breaks: boolean) => {
    const html = escapeHtml(text);
    return new Markup(breaks ? html.replace(/\r?\n/g, '<br />$&') : html, text, raw !== null);
  };
  for (const [name, { text, breaks }] of Object.entries(htmlFilters)) {
    add(name, guarded(kind === 'text' ? text : (value) => markup(text(value), breaks === true)));
  }
  if (!raw) return;
  if (kind === 'text')
    add(
      'raw',
      guarded((value) => raw(textOf(value))),
    );
  // Returns the value unchanged, so that Markup keeps the escaped values.
  else add('raw', (value) => value, true);
}
