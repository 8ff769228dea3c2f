// Collects the response to a request, within a bound of bytes. Uses undici's `dispatch`, because
// the streams and signals of undici's `request` would double the cost of a webhook.

/** A response that was received completely. */
export interface HttpAnswer {
  statusCode: number;
  text: string;
  /** Returns the first value of a header by the name in lower case; null without the header. */
  header(name: string): string | null;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Step at which a request failed. */
export type HttpStep = 'dns' | 'refused-address' | 'connect' | 'tls' | 'timeout' | 'response';

/** The failure of a request without a complete response. */
export class HttpError extends Error {
  readonly step: HttpStep;
  /** Status code of an incomplete response; null if no response began. */
  readonly statusCode: number | null;
  constructor(step: HttpStep, message: string, statusCode: number | null = null) {
    super(message);
    this.step = step;
    this.statusCode = statusCode;
  }
}

/** The part of undici's controller that aborts the exchange and closes the connection. */
interface Controller {
  abort(reason: Error): void;
}

/** Handler for undici's `dispatch` that collects the response to a request. */
export class AnswerReader {
  readonly #end = Promise.withResolvers<HttpAnswer>();
  readonly #mostBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #statusCode = 0;
  #headers: Headers = {};
  #controller: Controller | null = null;
  #problem: HttpError | null = null;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Resolves with the response; rejects with an HttpError or the error of the connection. */
  get whole(): Promise<HttpAnswer> {
    return this.#end.promise;
  }

  /**
   * Aborts the request with `problem`. A request that still waits for a connection is never sent.
   */
  end(problem: HttpError): void {
    this.#problem ??= problem;
    this.#end.reject(problem);
    this.#controller?.abort(problem);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#problem !== null) controller.abort(this.#problem);
  }

  onResponseStart(_: Controller, statusCode: number, headers: Headers): void {
    // Interim responses (1xx, RFC 9110 15.2) come before the response.
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#headers = headers;
  }

  onResponseData(_: Controller, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes <= this.#mostBytes) return;
    const text = `the answer has more than ${this.#mostBytes / 1024} KB`;
    this.end(new HttpError('response', text, this.#statusCode));
  }

  onResponseEnd(): void {
    const text = this.#bytes > 0 ? Buffer.concat(this.#chunks).toString('utf8') : '';
    const statusCode = this.#statusCode;
    const header = (name: string) => [this.#headers[name] ?? []].flat()[0] ?? null;
    this.#end.resolve({ statusCode, text, header });
  }

  onResponseError(_: Controller | null, error: Error): void {
    this.#end.reject(error);
  }
}
