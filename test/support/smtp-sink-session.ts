// One connection of the SMTP sink: reads commands and messages (RFC 5321, 1870, 3207, 4954, 3030),
// answers them as scripted or as a plain server would. Lenient in content, strict in sequence.
//
//   mode      reads                    leaves when
//   command   a line                   DATA, BDAT or AUTH is accepted
//   data      up to CRLF.CRLF          the end is read → command
//   chunk     the octets of one BDAT   they are read → command
//   auth      a line                   credentials are judged → command
//   closed    nothing                  never (dropped, hung, flooded)
import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import type { Clock } from '../../src/platform/runtime/clock.ts';
import type { Greylist } from './greylist.ts';
import { SinkBody } from './smtp-sink-body.ts';
import type { SinkReply, SinkScript, SinkVerb } from './smtp-sink-script.ts';

export interface SinkMessage {
  /** The envelope sender without brackets; '' is the null return path. */
  from: string;
  /** ESMTP parameters of MAIL FROM, as sent: `SIZE=512`, `BODY=8BITMIME`. */
  mailParams: string[];
  /** The recipients that were accepted. */
  recipients: string[];
  /** ESMTP parameters of each accepted recipient, in the same order. */
  recipientParams: string[][];
  /** The message with the dots unstuffed, every line ended by CRLF. */
  raw: Buffer;
  tls: boolean;
  /** Server name that the client sent as SNI; null without SNI. */
  serverName: string | null;
  /** Counts connections from 1. */
  sessionId: number;
  /** Name that the client gave in EHLO or HELO. */
  helo: string;
  /** The user that logged in, if one did. */
  user: string | undefined;
}

/** The parts of the sink that a session needs. */
export interface SinkHost {
  hostname: string;
  extensions: readonly string[];
  secureContext: SecureContext | undefined;
  credentials: { user: string; pass: string } | undefined;
  maxBytes: number;
  keep: boolean;
  greylist: Greylist | undefined;
  clock: Clock;
  script: SinkScript;
  onCommand(sessionId: number, line: string): void;
  onMessage(message: SinkMessage): void;
}

type Envelope = Pick<SinkMessage, 'from' | 'mailParams' | 'recipients' | 'recipientParams'>;
type Mode = 'command' | 'data' | 'chunk' | 'auth' | 'closed';

const maxLineBytes = 65_536;
const nothing = Buffer.alloc(0);
/** Bytes that the end mark of DATA adds to the message. */
const endMarkBytes = 3;
const pathPattern = /^(?:FROM|TO):\s*<((?:"(?:\\.|[^"\\])*"|[^">])*)>(?:\s+(.*))?$/i;

function parsePath(argument: string): { address: string; params: string[] } | undefined {
  const found = pathPattern.exec(argument);
  if (!found) return undefined;
  return { address: found[1] ?? '', params: found[2]?.split(/\s+/).filter(Boolean) ?? [] };
}

export class SinkSession {
  readonly #host: SinkHost;
  readonly #id: number;
  readonly #raw: Socket;
  #stream: Socket;
  #mode: Mode = 'command';
  #paused: boolean = false;
  #input: Buffer = nothing;
  #at = 0;
  #output = '';
  #secure = false;
  #helo = '';
  #user: string | undefined;
  #envelope: Envelope | undefined;
  #body: SinkBody;
  #chunk: { left: number; last: boolean } = { left: 0, last: false };
  #onAuthLine: (line: string) => void = () => {};

  constructor(host: SinkHost, id: number, socket: Socket, secure: boolean) {
    this.#host = host;
    this.#body = this.#newBody();
    this.#id = id;
    this.#raw = socket;
    this.#stream = socket;
    if (secure) this.#upgrade();
    else this.#listen();
    this.#answer('connect', socket.remoteAddress ?? '', `220 ${host.hostname} ESMTP`);
    this.#flush();
  }

  #listen(): void {
    this.#stream.on('data', (read: Buffer) => this.#receive(read));
    this.#stream.on('error', () => this.#stream.destroy());
  }

  #receive(read: Buffer): void {
    if (this.#mode === 'closed') return;
    const rest = this.#input.subarray(this.#at);
    this.#input = rest.length > 0 ? Buffer.concat([rest, read]) : read;
    this.#at = 0;
    this.#run();
  }

  #run(): void {
    while (!this.#paused && this.#step());
    this.#flush();
  }

  /** Handles one command, message or chunk; returns false while it is incomplete. */
  #step(): boolean {
    if (this.#mode === 'closed') return false;
    if (this.#mode === 'data') return this.#readData();
    if (this.#mode === 'chunk') return this.#readChunk();
    const end = this.#input.indexOf(0x0a, this.#at);
    if (end < 0) {
      if (this.#input.length - this.#at > maxLineBytes) this.#close();
      return false;
    }
    const line = this.#input.toString('utf8', this.#at, end).replace(/\r$/, '');
    this.#at = end + 1;
    if (this.#mode === 'auth') this.#onAuthLine(line);
    else this.#command(line);
    return true;
  }

  #command(line: string): void {
    this.#host.onCommand(this.#id, line);
    const space = line.indexOf(' ');
    const verb = (space < 0 ? line : line.slice(0, space)).toUpperCase();
    const argument = space < 0 ? '' : line.slice(space + 1).trim();
    switch (verb) {
      case 'EHLO':
      case 'HELO':
        this.#hello(verb, argument);
        break;
      case 'STARTTLS':
        this.#startTls(argument);
        break;
      case 'AUTH':
        this.#auth(argument);
        break;
      case 'MAIL':
        this.#mail(argument);
        break;
      case 'RCPT':
        this.#rcpt(argument);
        break;
      case 'DATA':
        this.#data(argument);
        break;
      case 'BDAT':
        this.#bdat(argument);
        break;
      case 'RSET':
        this.#answer('RSET', argument, '250 2.0.0 reset', () => this.#forget());
        break;
      case 'NOOP':
        this.#answer('NOOP', argument, '250 2.0.0 ok');
        break;
      case 'QUIT':
        this.#answer('QUIT', argument, '221 2.0.0 bye', () => this.#close());
        break;
      default:
        this.#output += '500 5.5.1 what?\r\n';
    }
  }

  #hello(verb: 'EHLO' | 'HELO', name: string): void {
    const { hostname, extensions, secureContext, credentials } = this.#host;
    const offered = [...extensions];
    if (secureContext && !this.#secure) offered.push('STARTTLS');
    if (credentials) offered.push('AUTH PLAIN LOGIN');
    const lines = verb === 'EHLO' ? [hostname, ...offered] : [hostname];
    const standard = lines.map((text, i) => `250${i === lines.length - 1 ? ' ' : '-'}${text}`);
    this.#answer(verb, name, standard, () => {
      this.#helo = name;
      this.#forget();
    });
  }

  #startTls(argument: string): void {
    const usable = this.#host.secureContext && !this.#secure;
    const standard = usable ? '220 2.0.0 ready' : '502 5.5.1 no TLS here';
    this.#answer('STARTTLS', argument, standard, () => {
      this.#flush();
      this.#helo = '';
      this.#user = undefined;
      this.#forget();
      this.#upgrade();
    });
  }

  /**
   * Starts TLS; drops bytes that the client sent in the clear after STARTTLS (RFC 3207, command
   * injection).
   */
  #upgrade(): void {
    this.#input = nothing;
    this.#at = 0;
    this.#raw.removeAllListeners('data');
    this.#raw.on('error', () => this.#raw.destroy());
    const { secureContext } = this.#host;
    this.#stream = new TLSSocket(this.#raw, {
      isServer: true,
      ...(secureContext && { secureContext }),
    });
    this.#secure = true;
    this.#listen();
  }

  #auth(argument: string): void {
    const [mechanism = '', initial] = argument.split(' ');
    const name = mechanism.toUpperCase();
    const known = this.#host.credentials && (name === 'PLAIN' || name === 'LOGIN');
    if (!known) {
      this.#answer('AUTH', argument, '504 5.5.4 mechanism unknown');
      return;
    }
    const judge = (user: string, pass: string) => {
      const { credentials } = this.#host;
      const right = user === credentials?.user && pass === credentials.pass;
      const standard = right ? '235 2.7.0 welcome' : '535 5.7.8 credentials refused';
      this.#answer('AUTH', argument, standard, () => {
        this.#user = user;
      });
    };
    if (name === 'PLAIN') {
      this.#prompt('', initial, (text) => {
        const [, user = '', pass = ''] = text.split('\0');
        judge(user, pass);
      });
    } else {
      this.#prompt('Username:', initial, (user) => {
        this.#prompt('Password:', undefined, (pass) => judge(user, pass));
      });
    }
  }

  /** Reads a line of the SASL dialogue: the initial response, or the next line of the client. */
  #prompt(challenge: string, initial: string | undefined, take: (text: string) => void): void {
    const decode = (text: string) => Buffer.from(text === '=' ? '' : text, 'base64').toString();
    if (initial !== undefined) {
      take(decode(initial));
      return;
    }
    this.#output += `334 ${Buffer.from(challenge).toString('base64')}\r\n`;
    this.#mode = 'auth';
    this.#onAuthLine = (line) => {
      this.#mode = 'command';
      if (line === '*') this.#output += '501 5.7.0 cancelled\r\n';
      else take(decode(line));
    };
  }

  #mail(argument: string): void {
    const path = parsePath(argument);
    const size = Number(path?.params.find((param) => /^SIZE=/i.test(param))?.slice(5) ?? 0);
    let standard = '250 2.1.0 ok';
    if (this.#helo === '') standard = '503 5.5.1 say EHLO first';
    else if (this.#host.credentials && !this.#user) standard = '530 5.7.0 log in first';
    else if (this.#envelope) standard = '503 5.5.1 a message is under way';
    else if (!path) standard = '501 5.5.4 MAIL FROM:<address>';
    else if (size > this.#host.maxBytes) standard = '552 5.3.4 too big';
    this.#answer('MAIL', argument, standard, () => {
      this.#forget();
      this.#envelope = {
        from: path?.address ?? '',
        mailParams: path?.params ?? [],
        recipients: [],
        recipientParams: [],
      };
    });
  }

  #rcpt(argument: string): void {
    const path = parsePath(argument);
    let standard = '250 2.1.5 ok';
    if (!this.#envelope) standard = '503 5.5.1 say MAIL first';
    else if (!path) standard = '501 5.5.4 RCPT TO:<address>';
    else standard = this.#greylisted(this.#envelope.from, path.address) ?? standard;
    this.#answer('RCPT', argument, standard, () => {
      this.#envelope?.recipients.push(path?.address ?? '');
      this.#envelope?.recipientParams.push(path?.params ?? []);
    });
  }

  #greylisted(from: string, to: string): string | undefined {
    return this.#host.greylist?.refusal(this.#raw.remoteAddress ?? '', from, to);
  }

  #data(argument: string): void {
    let standard = '354 go ahead';
    if (!this.#envelope) standard = '503 5.5.1 say MAIL first';
    else if (this.#envelope.recipients.length === 0) standard = '554 5.5.1 no valid recipients';
    this.#answer('DATA', argument, standard, () => {
      this.#mode = 'data';
    });
  }

  #readData(): boolean {
    const used = this.#body.takeData(this.#input.subarray(this.#at));
    this.#at = used === undefined ? this.#input.length : this.#at + used;
    if (used === undefined) return false;
    this.#mode = 'command';
    const body = this.#body;
    this.#finish('dot', '', body.byteCount - endMarkBytes, () => body.data());
    return true;
  }

  #bdat(argument: string): void {
    const [size = '', last = ''] = argument.split(' ');
    if (!/^\d{1,15}$/.test(size)) {
      this.#answer('BDAT', argument, '501 5.5.4 BDAT size [LAST]');
      return;
    }
    this.#chunk = { left: Number(size), last: last.toUpperCase() === 'LAST' };
    this.#mode = 'chunk';
  }

  #readChunk(): boolean {
    const read = this.#input.subarray(this.#at, this.#at + this.#chunk.left);
    this.#body.take(read);
    this.#at += read.length;
    this.#chunk.left -= read.length;
    if (this.#chunk.left > 0) return false;
    this.#mode = 'command';
    const accepted = (this.#envelope?.recipients.length ?? 0) > 0;
    if (!accepted) this.#answer('BDAT', '', '503 5.5.1 no valid recipients');
    else if (this.#chunk.last) {
      const body = this.#body;
      this.#finish('BDAT', 'LAST', body.byteCount, () => body.chunks());
    } else this.#answer('BDAT', '', '250 2.0.0 chunk taken');
    return true;
  }

  /** Replies to the end of a message. Delivers an accepted message, and clears it in any case. */
  #finish(verb: 'dot' | 'BDAT', argument: string, byteCount: number, raw: () => Buffer): void {
    const { maxBytes, hostname, onMessage } = this.#host;
    const standard = byteCount > maxBytes ? '552 5.3.4 too big' : `250 2.0.0 queued at ${hostname}`;
    const envelope = this.#envelope;
    const body = this.#host.keep ? raw() : nothing;
    const message = () => `${argument}${body.toString('latin1')}`;
    this.#forget();
    this.#answer(verb, message, standard, () => {
      if (!envelope) return;
      onMessage({ ...envelope, raw: body, ...this.#identity() });
    });
  }

  #identity(): Pick<SinkMessage, 'tls' | 'serverName' | 'sessionId' | 'helo' | 'user'> {
    const asked = this.#stream instanceof TLSSocket && this.#stream.servername;
    return {
      tls: this.#secure,
      serverName: asked || null,
      sessionId: this.#id,
      helo: this.#helo,
      user: this.#user,
    };
  }

  #forget(): void {
    this.#envelope = undefined;
    this.#body = this.#newBody();
  }

  #newBody(): SinkBody {
    return new SinkBody(this.#host.keep ? this.#host.maxBytes + endMarkBytes : 0);
  }

  /** Sends the scripted reply or else `standard`; runs `onAccepted` after a 2xx or 3xx. */
  #answer(
    verb: SinkVerb,
    argument: string | (() => string),
    standard: string | readonly string[],
    onAccepted: () => void = () => {},
  ): void {
    const lazy = typeof argument === 'string' ? () => argument : argument;
    const reply = this.#host.script.find(verb, lazy) ?? standard;
    const text =
      typeof reply === 'string' ? reply : isLines(reply) ? reply.join('\r\n') : undefined;
    if (text === undefined) {
      this.#act(reply, onAccepted);
      return;
    }
    this.#output += `${text}\r\n`;
    if (isPositive(text)) onAccepted();
  }

  #act(reply: SinkReply, onAccepted: () => void): void {
    this.#flush();
    if (typeof reply === 'string' || isLines(reply)) return;
    if ('raw' in reply) {
      this.#stream.write(reply.raw);
      if (isPositive(reply.raw.toString('latin1'))) onAccepted();
    } else if ('dripMsPerByte' in reply) {
      this.#paused = true;
      this.#drip(Buffer.from(reply.text), reply.dripMsPerByte, () => {
        this.#paused = false;
        if (isPositive(reply.text)) onAccepted();
        this.#run();
      });
    } else if ('flood' in reply) {
      this.#mode = 'closed';
      this.#flood(reply.flood);
    } else if ('hang' in reply) {
      this.#mode = 'closed';
    } else if ('reset' in reply) {
      this.#mode = 'closed';
      this.#raw.resetAndDestroy();
    } else {
      this.#close();
    }
  }

  #drip(bytes: Buffer, msPerByte: number, onDone: () => void): void {
    if (this.#stream.destroyed) return;
    if (bytes.length === 0) {
      onDone();
      return;
    }
    this.#stream.write(bytes.subarray(0, 1));
    this.#host.clock.after(msPerByte, () => this.#drip(bytes.subarray(1), msPerByte, onDone));
  }

  #flood(left: number): void {
    if (left <= 0 || this.#stream.destroyed) return;
    const piece = Buffer.alloc(Math.min(left, 65_536), `250-${'x'.repeat(70)}\r\n`);
    this.#stream.write(piece, () => this.#flood(left - piece.length));
  }

  #flush(): void {
    if (this.#output === '') return;
    this.#stream.write(this.#output);
    this.#output = '';
  }

  #close(): void {
    this.#flush();
    this.#mode = 'closed';
    this.#stream.destroySoon();
  }
}

function isLines(reply: SinkReply): reply is readonly string[] {
  return Array.isArray(reply);
}

function isPositive(text: string): boolean {
  return text.startsWith('2') || text.startsWith('3');
}
