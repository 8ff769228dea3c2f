// HTTP as the attackers speak it: whole requests with counted answers, and held requests.
import { Agent, type IncomingMessage, request } from 'node:http';

const deadlineMs = 60_000;

export interface Answer {
  status: number;
  text: string;
}

interface Asked {
  method?: string;
  key?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  raw?: string;
  headers?: Readonly<Record<string, string>>;
}

export class Api {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 200 });

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request and reads its answer. */
  ask(path: string, { method = 'GET', key, body, raw, headers }: Asked = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          ...{ port: this.#port, host: '127.0.0.1', path, method, agent: this.#agent },
          headers: {
            ...(key && { 'x-api-key': key }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          signal: AbortSignal.timeout(deadlineMs),
        },
        (answer) => void read(answer).then(resolve, reject),
      );
      sent.once('error', reject);
      sent.end(raw ?? (body === undefined ? undefined : JSON.stringify(body)));
    });
  }

  /** Returns the object at a path. */
  async json<T>(path: string, key: string): Promise<T> {
    const { status, text } = await this.ask(path, { key });
    if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
    return JSON.parse(text) as T;
  }

  /**
   * Begins a request of `contentType` and writes `bytes` each `everyMs`; resolves when the daemon
   * ends it.
   */
  trickle(path: string, key: string, contentType: string, bytes: string, everyMs: number) {
    return new Promise<string>((resolve) => {
      const sent = request({
        ...{ port: this.#port, host: '127.0.0.1', path, method: 'POST', agent: false },
        headers: { 'x-api-key': key, 'content-type': contentType, 'transfer-encoding': 'chunked' },
      });
      const timer = setInterval(() => sent.write(bytes), everyMs);
      const end = (how: string) => {
        clearInterval(timer);
        sent.destroy();
        resolve(how);
      };
      sent.once('response', (answer) => end(String(answer.statusCode)));
      sent.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'error'));
      sent.write(bytes);
    });
  }

  /** Opens an answer and reads only its head; resolves when the daemon ends it. */
  hold(path: string, key: string): Promise<string> {
    return new Promise((resolve) => {
      const sent = request(
        {
          ...{ port: this.#port, host: '127.0.0.1', path, agent: false },
          headers: { 'x-api-key': key },
        },
        (answer) => {
          const { statusCode } = answer;
          if (statusCode !== 200) answer.resume();
          answer.once('close', () => resolve(String(statusCode)));
          answer.once('end', () => resolve(String(statusCode)));
        },
      );
      sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
      sent.end();
    });
  }
}

async function read(answer: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
}
