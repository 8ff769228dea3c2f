// Commands and replies over a socket: matches replies to commands and refuses unsolicited bytes.
// Time limits are in patience.ts, the SMTP dialogue in session.ts and open.ts.
import type { Socket } from 'node:net';
import type { Clock } from '../../../platform/runtime/clock.ts';
import type { RemoteReply } from '../outcome.ts';
import { SmtpFault } from '../outcome.ts';
import { type Deadline, noDeadline, Patience } from './patience.ts';
import { cutIntoPieces, gather } from './pieces.ts';
import { printable, ReplyParser, type SmtpReply, toRemoteReply } from './reply.ts';
import { replyTimeoutMs, type SmtpTimeouts, type Verb } from './timeouts.ts';
import type { Transcript } from './transcript.ts';

/** A command. In the transcript `shown` replaces a command with credentials. */
export interface Command {
  verb: Verb;
  line: string;
  shown?: string;
}

interface Settle {
  resolve: () => void;
  reject: (fault: SmtpFault) => void;
}

interface ReplyWait extends Settle {
  commands: readonly { verb: Verb }[];
  replies: SmtpReply[];
  /** Transcript of the message to which the commands belong. */
  transcript: Transcript;
  deadline: Deadline;
}

/**
 * Largest data block that is copied into a single write. Up to this size a copy is cheaper than a
 * gathered write (by 4 µs for 3 KB), and the next message can follow in the same write.
 */
const copyBytes = 16 * 1024;

/*
 * state    | waits      | drain     | meaning of arriving bytes
 * ---------+------------+-----------+--------------------------------------------------------------
 * idle     | none       | none      | unsolicited: closes the channel
 * asking   | commands   | none      | replies to `commands`, in order; any further reply is unsolicited
 * ahead    | dot, next  | none      | the reply to the dot, then the replies to the next envelope
 * sending  | none       | a piece   | unsolicited: the server answers a message only after the dot
 * closed   | none       | none      | ignored; every call rejects with `fault`
 */
export class SmtpChannel {
  /** Transcript of all following commands and replies. */
  transcript: Transcript;
  /** Called once after the channel has closed, for any reason. */
  onClosed: (() => void) | null = null;
  readonly #clock: Clock;
  readonly #timeouts: SmtpTimeouts;
  readonly #patience: Patience;
  readonly #parser = new ReplyParser();
  #socket: Socket;
  /** Pending waits, oldest first. The second wait, if any, is for an envelope sent after a dot. */
  readonly #waits: ReplyWait[] = [];
  #drain: Settle | null = null;
  /**
   * A data block that is held until the end of the loop turn, so that an envelope begun by then
   * joins the write.
   */
  #held: readonly Buffer[] | null = null;
  #fault: SmtpFault | null = null;
  #verb: Verb = 'connect';
  #deadline = noDeadline;

  /**
   * `isPressed` returns true while queued deliveries need the connection. Without it, every step
   * may take the full time.
   */
  constructor(
    socket: Socket,
    clock: Clock,
    timeouts: SmtpTimeouts,
    transcript: Transcript,
    isPressed?: () => boolean,
  ) {
    this.#socket = socket;
    this.#clock = clock;
    this.#timeouts = timeouts;
    this.#patience = new Patience(clock, timeouts.pressedMs, isPressed ?? null, (what) =>
      this.#failConnection(what),
    );
    this.transcript = transcript;
    this.#listen(socket);
  }

  get socket(): Socket {
    return this.#socket;
  }

  /** The command that waits for a reply, or the last command that did. */
  get verb(): Verb {
    return this.#verb;
  }

  get isOpen(): boolean {
    return this.#fault === null;
  }

  /** Closes the channel if the steps until the next call take more than `totalMs`. */
  limitTotal(totalMs: number): void {
    this.#deadline = { at: this.#clock.elapsed() + totalMs, totalMs };
  }

  /**
   * Waits for the banner.
   * @throws SmtpFault
   */
  async readBanner(): Promise<SmtpReply> {
    const replies: SmtpReply[] = [];
    await this.#expect([{ verb: 'connect' }], replies);
    return replies[0] as SmtpReply;
  }

  /**
   * Sends a command and returns the reply.
   * @throws SmtpFault, also for a 421
   */
  async ask(command: Command): Promise<SmtpReply> {
    const replies: SmtpReply[] = [];
    await this.exchange([command], replies);
    return replies[0] as SmtpReply;
  }

  /**
   * Writes all commands at once (RFC 2920) and resolves once each has a reply in `replies`. Rejects
   * with a fault, also for a 421; `replies` then has the earlier replies.
   */
  exchange(commands: readonly Command[], replies: SmtpReply[]): Promise<void> {
    if (this.#fault) return Promise.reject(this.#fault);
    let text = '';
    for (const { line, shown } of commands) {
      text += `${line}\r\n`;
      this.transcript.client(shown ?? line);
    }
    const replied = this.#expect(commands, replies);
    if (this.#held) this.#writeHeld(text);
    else this.#socket.write(text);
    return replied;
  }

  /**
   * Sends a data block (data.ts) and returns the reply to the dot. Calls `onTail` for a small
   * block: an `exchange` that `onTail` begins, directly or in promises, joins the same write (RFC
   * 2920 3.1).
   * @throws SmtpFault
   */
  async sendBlock(
    block: readonly Buffer[],
    totalBytes: number,
    onTail?: () => void,
  ): Promise<SmtpReply> {
    this.transcript.client(`(message of ${totalBytes} bytes)`);
    const replies: SmtpReply[] = [];
    if (this.#fault) throw this.#fault;
    if (totalBytes <= copyBytes) {
      const replied = this.#expect([{ verb: 'dot' }], replies);
      this.#hold(block, onTail);
      await replied;
      return replies[0] as SmtpReply;
    }
    const pieces = cutIntoPieces(block);
    const last = pieces.pop() ?? [];
    for (const piece of pieces) await this.#write(piece);
    if (this.#fault) throw this.#fault;
    const replied = this.#expect([{ verb: 'dot' }], replies);
    gather(this.#socket, last);
    await replied;
    return replies[0] as SmtpReply;
  }

  /** Continues over `socket`, which wraps the previous socket (STARTTLS). */
  replaceSocket(socket: Socket): void {
    const before = this.#socket;
    before.off('data', this.#onData).off('error', this.#onError);
    before.off('close', this.#onClose).off('end', this.#onClose);
    before.on('error', () => {});
    this.#socket = socket;
    this.#listen(socket);
  }

  /** Stops reading, so that the TLS handshake receives the following bytes. */
  stopReading(): void {
    this.#socket.off('data', this.#onData);
  }

  /**
   * Closes the channel at once. Pending calls reject with the fault that closed the channel, which
   * is also returned.
   */
  fail(fault: SmtpFault): SmtpFault {
    if (this.#fault) return this.#fault;
    this.#fault = fault;
    const [head, ...behind] = this.#waits.splice(0);
    (head?.transcript ?? this.transcript).note(fault.message);
    this.#patience.end();
    this.#socket.destroy();
    const waiting = head ?? this.#drain;
    this.#drain = null;
    this.#held = null;
    waiting?.reject(fault);
    for (const wait of behind) wait.reject(unheard(fault, wait));
    this.onClosed?.();
    return fault;
  }

  /** Converts a reply for outcomes, without credentials that the server may have echoed. */
  toRemote(reply: SmtpReply, verb: Verb): RemoteReply {
    const remote = toRemoteReply(reply, verb);
    remote.text = this.transcript.redact(remote.text);
    return remote;
  }

  #listen(socket: Socket): void {
    socket.on('data', this.#onData).on('error', this.#onError);
    socket.on('close', this.#onClose).on('end', this.#onClose);
  }

  readonly #onClose = (): void => this.#lose('the server closed the connection');

  readonly #onError = (error: Error): void => this.#lose(error.message);

  #lose(what: string): void {
    this.fail(SmtpFault.lost(this.#verb, `${what} (${this.#verb})`));
  }

  #failConnection(what: string): void {
    this.fail(SmtpFault.of('connection', this.#verb, `${what} (${this.#verb})`));
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#fault) return;
    const isUnsent = this.#verb === 'dot' && this.#socket.writableLength > 0;
    if (this.#waits.length === 0) this.#refuseUnasked(chunk);
    else if (isUnsent) this.#judgeLater(chunk);
    else this.#read(chunk);
  };

  /**
   * Waits a turn of the event loop with bytes that arrived while our bytes seem unsent, because
   * over TLS a finished write is reported a turn late. If our bytes are still unsent then, the
   * reply is early and is refused.
   */
  #judgeLater(chunk: Buffer): void {
    this.#socket.pause();
    setImmediate(() => {
      if (this.#fault) return;
      if (this.#socket.writableLength > 0) return this.#refuseUnasked(chunk);
      this.#socket.resume();
      this.#read(chunk);
    });
  }

  #refuseUnasked(chunk: Buffer): void {
    const said = printable(chunk.subarray(0, 200).toString('latin1'));
    const kind = said.startsWith('421') ? 'refused' : 'protocol';
    this.fail(SmtpFault.of(kind, this.#verb, `the server spoke unasked: ${said}`));
  }

  #read(chunk: Buffer): void {
    const replies = this.#parser.push(chunk);
    const hasReplies = replies.length > 0;
    for (let next = replies.shift(); next; next = replies.shift()) {
      if (this.#take(next, replies)) return;
    }
    const { problem } = this.#parser;
    if (problem) this.fail(SmtpFault.of('protocol', this.#verb, `the server sent ${problem}`));
    else if (hasReplies) this.#arm();
  }

  /** Assigns the reply to the oldest pending command. Returns true if nothing remains pending. */
  #take(reply: SmtpReply, rest: readonly SmtpReply[]): boolean {
    const [wait] = this.#waits;
    if (!wait) return true;
    wait.transcript.server(reply);
    if (reply.code === 421 && this.#verb !== 'QUIT') {
      this.fail(new SmtpFault('refused', this.toRemote(reply, this.#verb)));
      return true;
    }
    if (wait.replies.length + 1 === wait.commands.length) return this.#finish(wait, reply, rest);
    wait.replies.push(reply);
    this.#verb = wait.commands[wait.replies.length]?.verb ?? this.#verb;
    return false;
  }

  #finish(wait: ReplyWait, reply: SmtpReply, rest: readonly SmtpReply[]): boolean {
    const behind = this.#waits[1];
    if (behind) {
      this.#waits.shift();
      // The server begins with this envelope only now, so the time before does not count.
      const { at, totalMs } = behind.deadline;
      behind.deadline = { at: Math.max(at, this.#clock.elapsed() + totalMs), totalMs };
      wait.replies.push(reply);
      wait.resolve();
      this.#verb = behind.commands[0]?.verb ?? this.#verb;
      return false;
    }
    const isLast = rest.length === 0 && this.#parser.isBetweenReplies;
    // A farewell may follow the reply to the dot in the same packet. Any further reply means that
    // replies are out of step, so this reply may answer an earlier command.
    const isFarewell = rest.length === 1 && (rest[0]?.code === 421 || rest[0]?.code === 221);
    const isFinal = this.#verb === 'dot' || this.#verb === 'QUIT';
    if (!isLast && !(isFinal && isFarewell && this.#parser.isBetweenReplies)) {
      const text = `the server sent more replies than were asked for (${this.#verb})`;
      this.fail(SmtpFault.of('protocol', this.#verb, text));
      return true;
    }
    this.#waits.shift();
    this.#patience.end();
    wait.replies.push(reply);
    wait.resolve();
    if (!isLast) this.#failConnection('the server said goodbye');
    return true;
  }

  #expect(commands: readonly { verb: Verb }[], replies: SmtpReply[]): Promise<void> {
    if (this.#fault) return Promise.reject(this.#fault);
    return new Promise((resolve, reject) => {
      const [transcript, deadline] = [this.transcript, this.#deadline];
      this.#waits.push({ commands, replies, transcript, deadline, resolve, reject });
      if (this.#waits.length > 1) return;
      this.#verb = commands[0]?.verb ?? this.#verb;
      this.#arm();
    });
  }

  /** Resolves once the kernel has accepted the piece. */
  #write(piece: readonly Buffer[]): Promise<void> {
    if (this.#fault) return Promise.reject(this.#fault);
    return new Promise((resolve, reject) => {
      this.#drain = { resolve, reject };
      this.#arm();
      gather(this.#socket, piece, () => {
        if (!this.#drain) return;
        this.#drain = null;
        this.#patience.end();
        resolve();
      });
    });
  }

  /** Holds the block until `onTail` could add an envelope. Without `onTail`, writes at once. */
  #hold(block: readonly Buffer[], onTail: (() => void) | undefined): void {
    this.#held = block;
    if (!onTail) {
      this.#writeHeld('');
      return;
    }
    process.nextTick(() => this.#writeHeld(''));
    onTail();
  }

  /** Writes the held block and `behind` in a single write. */
  #writeHeld(behind: string): void {
    const held = this.#held;
    this.#held = null;
    if (held) this.#socket.write(Buffer.concat([...held, Buffer.from(behind)]));
  }

  #arm(): void {
    const { progressMs } = this.#timeouts;
    const stepMs = this.#drain ? progressMs : replyTimeoutMs(this.#timeouts, this.#verb);
    const what = this.#drain ? 'the server did not take the message' : 'no reply';
    const deadline = this.#waits[0]?.deadline ?? this.#deadline;
    this.#patience.watch(what, stepMs, this.#verb === 'dot', deadline);
  }
}

/**
 * Converts the end of the session into a fault of commands that the server did not process, because
 * they were sent ahead.
 */
function unheard({ kind, reply, isLoss }: SmtpFault, { commands }: ReplyWait): SmtpFault {
  return new SmtpFault(kind, { ...reply, verb: commands[0]?.verb ?? reply.verb }, isLoss);
}
