// Inserts partials into the text while a template is compiled, so that MJML and CSS apply to them.
// Then cuts them out again: `{% render 'row' %}` becomes `{% render 'row#1' %}` with a partial that
// is compiled for this place.
import { posix } from 'node:path';
import type { TemplateFiles } from '../compiled.ts';
import { TemplateProblem } from '../problem.ts';
import { compileLimits } from './limits.ts';
import type { Hidden, Shields, SourceText } from './shields.ts';
import type { PartialFile } from './sources.ts';

interface Place {
  hidden: Hidden;
  begin: string;
  end: string;
}

/** The text of an open partial. Call `close` at the end of the text. */
interface Opened {
  source: SourceText;
  close(): void;
}

export class Placing {
  readonly #shields: Shields;
  readonly #files: TemplateFiles;
  readonly #partials: ReadonlyMap<string, PartialFile>;
  readonly #hide: (path: string) => SourceText;
  readonly #open: string[] = [];
  readonly #places = new Map<string, Place>();
  readonly #placed = new Set<string>();
  #count = 0;
  #characters = 0;

  /** `hide` returns the text of a file, with the Liquid hidden anew. */
  constructor(
    shields: Shields,
    files: TemplateFiles,
    partials: ReadonlyMap<string, PartialFile>,
    hide: (path: string) => SourceText,
  ) {
    this.#shields = shields;
    this.#files = files;
    this.#partials = partials;
    this.#hide = hide;
  }

  /** Opens the file of an `mj-include`. It must be a partial of the template. */
  include(address: string, from: string, line: number): Opened {
    const candidates = [posix.join(posix.dirname(from), address), posix.normalize(address)];
    const path = candidates.find(
      (one) => one.startsWith('partials/') && Object.hasOwn(this.#files, one),
    );
    if (path === undefined || address.startsWith('/')) {
      const named = this.#shields.restore(address).slice(0, 100);
      throw new TemplateProblem(from, line, `${named} is no file in partials/ of this template`);
    }
    return this.#opened(path, from, line);
  }

  /**
   * Opens the partial of a `render` tag. The words `begin` and `end` enclose the text of the
   * partial.
   */
  render(hidden: Hidden, kinds: readonly PartialFile['kind'][]): Opened & Place {
    const { path, line } = hidden;
    const partial = this.#partials.get(hidden.partial ?? '');
    if (!partial) throw new TemplateProblem(path, line, `there is no partial ${hidden.partial}`);
    if (!kinds.includes(partial.kind)) {
      const where =
        partial.kind === 'mjml' ? 'between tags of MJML' : 'in HTML: in MJML within <mj-raw>';
      throw new TemplateProblem(path, line, `${partial.path} can only be rendered ${where}`);
    }
    const opened = this.#opened(partial.path, path, line);
    const [begin, end] = (['begin', 'end'] as const).map((role) =>
      this.#shields.hide({ kind: 'text', text: '', path, line, role, partial: null }),
    );
    const place = { hidden, begin: begin ?? '', end: end ?? '' };
    this.#places.set(place.begin, place);
    this.#places.set(place.end, place);
    this.#placed.add(hidden.word);
    return { ...opened, ...place };
  }

  /** Returns the name of the first element in a partial of HTML; null without an element. */
  firstTagOf(name: string): string | null {
    const { path = '' } = this.#partials.get(name) ?? {};
    const [, tag] = /<([a-z][a-z0-9]*)/i.exec(this.#files[path] ?? '') ?? [];
    return tag?.toLowerCase() ?? null;
  }

  #opened(path: string, from: string, line: number): Opened {
    if (this.#open.includes(path)) {
      throw new TemplateProblem(
        from,
        line,
        `${path} places itself: ${[...this.#open, path].join(' → ')}`,
      );
    }
    if (this.#open.length >= compileLimits.partials) {
      throw new TemplateProblem(
        from,
        line,
        `partials are nested more than ${compileLimits.partials} deep`,
      );
    }
    this.#count += 1;
    this.#characters += this.#files[path]?.length ?? 0;
    if (this.#count > compileLimits.places) {
      throw new TemplateProblem(
        from,
        line,
        `partials are placed more than ${compileLimits.places} times`,
      );
    }
    if (this.#characters > compileLimits.placedCharacters) {
      const most = compileLimits.placedCharacters / 1024;
      throw new TemplateProblem(from, line, `placed partials have more than ${most} KB together`);
    }
    this.#open.push(path);
    return { source: this.#hide(path), close: () => this.#open.pop() };
  }

  /**
   * Returns the first `render` tag of a text at which no partial was inserted, such as in an
   * attribute; undefined if each tag has a partial.
   */
  unplaced(text: string): Hidden | undefined {
    return this.#shields
      .in(text)
      .find(({ word, partial }) => partial !== null && !this.#placed.has(word));
  }

  /** Cuts the inserted partials out of a text and restores the hidden texts. */
  cut(text: string): { text: string; partials: Record<string, string> } {
    const names = new Map<string, string>();
    const counts = new Map<string, number>();
    const partials: Record<string, string> = {};
    const open: { place: Place | null; text: string }[] = [{ place: null, text: '' }];
    const add = (more: string) => {
      const top = open.at(-1);
      if (top) top.text += more;
    };
    let at = 0;
    const marks = new RegExp(`(?:<!--)?(${this.#shields.words.source})(?:-->)?`, 'g');
    for (const match of text.matchAll(marks)) {
      const [whole, word = ''] = match;
      const place = this.#places.get(word);
      if (!place) continue;
      add(text.slice(at, match.index));
      at = match.index + whole.length;
      if (word === place.begin) open.push({ place, text: '' });
      else {
        const content = this.#shields.restore(unwrap(this.#shields, open.pop()?.text ?? ''));
        const base = place.hidden.partial ?? '';
        const known = names.get(`${base}\0${content}`);
        const number = (counts.get(base) ?? 0) + (known ? 0 : 1);
        const name = known ?? `${base}#${number}`;
        if (!known) counts.set(base, number);
        names.set(`${base}\0${content}`, name);
        partials[name] = content;
        add(renamed(place.hidden.text, name));
      }
    }
    add(text.slice(at));
    return { text: this.#shields.restore(unwrap(this.#shields, open[0]?.text ?? '')), partials };
  }
}

/** Removes the comment, declaration or empty attribute around each word. */
function unwrap(shields: Shields, text: string): string {
  const wrapped = new RegExp(
    `<!--(${shields.words.source})-->|--(${shields.words.source}): ?\\3|(${shields.words.source})=""`,
    'g',
  );
  return text.replace(wrapped, (_, comment, _1, style, _2, name) => comment ?? style ?? name ?? '');
}

/** Returns a `render` tag with a different name. */
function renamed(tag: string, name: string): string {
  return tag.replace(/(["'])[^"']*\1/, (_, quote) => `${quote}${name}${quote}`);
}
