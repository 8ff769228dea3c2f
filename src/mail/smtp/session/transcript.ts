// The SMTP dialogue of an attempt as shown in the attempt history, at most 4 KB. Callers leave out
// the message and credentials.
import { printable, type SmtpReply } from './reply.ts';

/** Most characters of a transcript. A longer transcript is cut, and ends with the line `(cut)`. */
const maxLength = 4_000;
const maxLineLength = 500;
/** Shorter secrets are not hidden: hiding them would garble ordinary words and protect nothing. */
const shortestSecret = 4;
const cutMark = '(cut)\n';

/** The dialogue as text. Lines begin with `C:` (client), `S:` (server) or `*` (further events). */
export class Transcript {
  #text = '';
  #room = maxLength;
  #secrets: readonly string[] = [];

  /** The text so far; every line ends with a line feed. */
  get text(): string {
    return this.#text;
  }

  client(line: string): void {
    this.#add('C: ', line);
  }

  server(reply: SmtpReply): void {
    const last = reply.lines.length - 1;
    for (let i = 0; i <= last; i += 1) {
      this.#add('S: ', `${reply.code}${i < last ? '-' : ' '}${reply.lines[i]}`);
    }
  }

  note(line: string): void {
    this.#add('* ', line);
  }

  /** Hides these texts in all following lines, even if the server repeats them. */
  hide(secrets: readonly string[]): void {
    this.#secrets = secrets.filter((secret) => secret.length >= shortestSecret);
  }

  redact(text: string): string {
    if (this.#secrets.length === 0) return text;
    return this.#secrets.reduce((cut, secret) => cut.replaceAll(secret, '(hidden)'), text);
  }

  /** Returns an empty transcript with the same secrets, for the next message of a session. */
  next(): Transcript {
    const next = new Transcript();
    next.#secrets = this.#secrets;
    return next;
  }

  #add(mark: string, line: string): void {
    if (this.#room === 0) return;
    const added = `${mark}${printable(this.redact(line).slice(0, maxLineLength))}\n`;
    const fits = added.length <= this.#room;
    this.#text += fits ? added : cutMark;
    this.#room = fits ? this.#room - added.length : 0;
  }
}

/** Returns the lines of the server and the notes on the connection, without our commands. */
export function serverLines(transcript: string): string {
  return transcript.replaceAll(/^C: .*\n/gm, '');
}

/**
 * Joins the transcripts of all hosts of an attempt, and cuts the text at `maxLength` characters.
 */
export function joinTranscripts(parts: readonly string[]): string {
  const text = parts.join('');
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}\n${cutMark}`;
}
