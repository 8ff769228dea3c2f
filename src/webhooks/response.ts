// Reads the response to one post, within bounds: a handler of undici's `dispatch`. The streams and signals
// of undici's `request` would double the cost of a post.
import type { IncomingHttpHeaders } from 'node:http';

const mostAnswerBytes = 64 * 1024;

/** Response that was received completely. */
export interface WholeAnswer {
  statusCode: number;
  /** Retry-After; all values if the header was repeated. */
  retryAfter: string | string[] | undefined;
  text: string;
}

/** Class of a failed post; `status` is a response without a 2xx. */
export type ErrorClass =
  | 'dns'
  | 'refused-address'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'status'
  | 'response';

/** Failure that prevented a complete response. */
export class PostError extends Error {
  readonly errorClass: ErrorClass;
  /** Status code of an incomplete response; null if no response began. */
  readonly statusCode: number | null;
  constructor(errorClass: ErrorClass, message: string, statusCode: number | null = null) {
    super(message);
    this.errorClass = errorClass;
    this.statusCode = statusCode;
  }
}

/** Aborts the exchange and closes its connection. */
interface Controller {
  abort(reason: Error): void;
}

/** Handler of one request that collects its response. */
export class Answer {
  readonly #end = Promise.withResolvers<WholeAnswer>();
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #statusCode = 0;
  #retryAfter: string | string[] | undefined;
  #controller: Controller | null = null;
  #problem: PostError | null = null;

  /** Resolves with the response; rejects with a PostError or the error of the connection. */
  get whole(): Promise<WholeAnswer> {
    return this.#end.promise;
  }

  /** Aborts at once. A request that still waits for a connection is then never sent. */
  end(problem: PostError): void {
    this.#problem ??= problem;
    this.#end.reject(problem);
    this.#controller?.abort(problem);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#problem !== null) controller.abort(this.#problem);
  }

  onResponseStart(_: Controller, statusCode: number, headers: IncomingHttpHeaders): void {
    // Interim responses (1xx, RFC 9110 15.2) precede the response.
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#retryAfter = headers['retry-after'];
  }

  onResponseData(_: Controller, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes <= mostAnswerBytes) return;
    this.end(new PostError('response', 'the answer has more than 64 KB', this.#statusCode));
  }

  onResponseEnd(): void {
    const text = this.#bytes > 0 ? Buffer.concat(this.#chunks).toString('utf8') : '';
    this.#end.resolve({ statusCode: this.#statusCode, retryAfter: this.#retryAfter, text });
  }

  onResponseError(_: Controller | null, error: Error): void {
    this.#end.reject(error);
  }
}
