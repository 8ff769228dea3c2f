// Mails that wait for a parse worker, in turns of their holders: the daemon itself, and organizations that
// ask for attachments. Of the room each organization has its fair share; the daemon may take all of it.
import { FairShare } from '../../../platform/runtime/fair-share.ts';
import type { PendingMail } from './parse-thread.ts';

/** The holder of mail that the daemon parses for itself. */
export const ownHolder = '';

/** Mails up to this size go to a worker together, so many: none of them takes long. */
const smallBytes = 32 * 1024;
const mostTogether = 32;
/** Bytes that each organization may have waiting while any are free. */
const firstBytes = 1_000_000;

const isSmall = ({ wants, raw }: PendingMail) => wants === 'mail' && raw.length <= smallBytes;

/** The first that waits, with those behind it that go along. */
function takeTogether(waiting: PendingMail[]): PendingMail[] {
  const small = waiting.findIndex((mail) => !isSmall(mail));
  const together = small < 0 ? waiting.length : small;
  return waiting.splice(0, Math.max(1, Math.min(together, mostTogether)));
}

export class ParseQueue {
  readonly #mostMails: number;
  readonly #mostBytes: number;
  readonly #mailShare: FairShare;
  readonly #byteShare: FairShare;
  /** Queued mails by holder. The first holder in the map has the next turn. */
  readonly #waiting = new Map<string, PendingMail[]>();
  #mails = 0;
  #bytes = 0;

  constructor(mostMails: number, mostBytes: number) {
    this.#mostMails = mostMails;
    this.#mostBytes = mostBytes;
    this.#mailShare = new FairShare(mostMails);
    this.#byteShare = new FairShare(mostBytes, firstBytes);
  }

  hasRoom(holder: string, bytes: number): boolean {
    if (this.#mails >= this.#mostMails || this.#bytes + bytes > this.#mostBytes) return false;
    if (holder === ownHolder) return true;
    return this.#mailShare.mayHold(holder) && this.#byteShare.mayHold(holder, bytes);
  }

  add(mail: PendingMail): void {
    this.#listOf(mail.holder).push(mail);
    this.#count(mail);
  }

  /** Puts mails back that a worker could not end, before the others of their holder. */
  giveBack(mails: readonly PendingMail[]): void {
    for (const mail of mails.toReversed()) {
      this.#listOf(mail.holder).unshift(mail);
      this.#count(mail);
    }
  }

  /** Takes the next mails for a worker; an empty list if none is queued. */
  take(): PendingMail[] {
    const [next] = this.#waiting;
    if (!next) return [];
    const [holder, waiting] = next;
    const mails = takeTogether(waiting);
    this.#waiting.delete(holder);
    if (waiting.length > 0) this.#waiting.set(holder, waiting);
    for (const mail of mails) this.#discount(mail);
    return mails;
  }

  #listOf(holder: string): PendingMail[] {
    const waiting = this.#waiting.get(holder) ?? [];
    this.#waiting.set(holder, waiting);
    return waiting;
  }

  #count({ holder, raw }: PendingMail): void {
    this.#mails += 1;
    this.#bytes += raw.length;
    this.#mailShare.hold(holder);
    this.#byteShare.hold(holder, raw.length);
  }

  #discount({ holder, raw }: PendingMail): void {
    this.#mails -= 1;
    this.#bytes -= raw.length;
    this.#mailShare.letGo(holder);
    this.#byteShare.letGo(holder, raw.length);
  }
}
