// Writes HTML. Escapes each value for the place in the HTML. Omits an address that would run code.
import { Markup } from './bounds.ts';
import type { FillRun } from './context.ts';
import { escapeHtml, escapeUnquoted, unsafeScheme } from './escape.ts';
import {
  type AddressRange,
  addressAt,
  afterAddress,
  type Findings,
  follow,
  type HtmlPlace,
  startPlace,
} from './html-place.ts';
import { lengthWith, printed } from './text-writer.ts';
import type { CaptureWriter, StaticPiece } from './writer.ts';

export class HtmlWriter implements CaptureWriter {
  buffer: string = '';
  readonly #run: FillRun;
  readonly #allowRawHtml: boolean;
  readonly #isCapture: boolean;
  /** Content of a `capture` as text, without escaping. */
  #text = '';
  #place: HtmlPlace = startPlace;
  #length = 0;

  constructor(run: FillRun, allowRawHtml: boolean, isCapture = false) {
    this.#run = run;
    this.#allowRawHtml = allowRawHtml;
    this.#isCapture = isCapture;
  }

  write(text: unknown): void {
    this.writeReady(printed(text, this.#run));
  }

  writeStatic(piece: StaticPiece): void {
    this.#add(piece.text);
    // Usually the place after a piece is the same at each fill, so it is cached.
    if (piece.last?.before !== this.#place) {
      piece.last = { before: this.#place, after: follow(piece.text, this.#place) };
    }
    this.#place = piece.last.after as HtmlPlace;
    if (this.#isCapture) this.#text += piece.text;
  }

  writeValue(value: unknown, isRaw: boolean): void {
    const text = printed(value, this.#run);
    if (this.#isCapture) this.#text += text;
    if (value instanceof Markup && (isRaw || this.#place.kind === 'text')) {
      this.#addMarkup(Markup.htmlOf(value));
    } else if (isRaw) this.#addRaw(text);
    else this.#addEscaped(text);
  }

  writeReady(html: string): void {
    this.#addHtml(html);
    if (this.#isCapture) this.#text += html;
  }

  forCapture(): CaptureWriter {
    return new HtmlWriter(this.#run, this.#allowRawHtml, true);
  }

  captured(): Markup {
    return new Markup(this.buffer, this.#text, this.#allowRawHtml);
  }

  #add(html: string): void {
    this.#length = lengthWith(this.#length, html);
    this.buffer += html;
  }

  #addHtml(html: string): void {
    this.#add(html);
    this.#place = follow(html, this.#place);
  }

  #addMarkup(html: string): void {
    this.#run.budget.use(html.length);
    this.#addHtml(html);
  }

  #addEscaped(text: string): void {
    const place = this.#place;
    const before = addressAt(place);
    if (before !== null && text !== '' && this.#isUnsafe(before + text)) this.#addEscaped('');
    else this.#addAt(place, text);
  }

  #addAt(place: HtmlPlace, text: string): void {
    const isQuoted = place.kind === 'value' && place.quote !== '';
    if (isQuoted || place.kind === 'text' || place.kind === 'rawText' || place.kind === 'comment') {
      this.#add(escapeHtml(text));
      // Escaped text changes the place only in an address.
      if (place.address !== null) this.#place = afterAddress(place, text);
    } else if (text === '' && place.kind === 'beforeValue') this.#addHtml('""');
    else this.#addHtml(escapeUnquoted(text));
  }

  /** Adds HTML of a value, without the addresses in it that run code. */
  #addRaw(html: string): void {
    const findings: Findings = { addresses: [], bodyEnd: null };
    const place = follow(html, this.#place, findings);
    const unsafe = findings.addresses.filter(({ start, end, before }) =>
      this.#isUnsafe(before + html.slice(start, end)),
    );
    if (unsafe.length === 0) {
      this.#add(html);
      this.#place = place;
    } else this.#addHtml(without(html, unsafe));
  }

  #isUnsafe(address: string): boolean {
    const scheme = unsafeScheme(address);
    if (scheme === null) return false;
    this.#run.warn('unsafe-link', `a value made a link of ${scheme}: and was left out`);
    return true;
  }
}

function without(html: string, ranges: readonly AddressRange[]): string {
  let kept = '';
  let from = 0;
  for (const { start, end } of ranges) {
    kept += html.slice(from, start);
    from = end;
  }
  return kept + html.slice(from);
}
