// Turns the error of a request to the server into the error that the same command has on the store
// beside it: the same text, the same object with --json, the same exit code.
import { SvcError } from '../../../client/index.js';
import * as errors from '../../../src/platform/errors.ts';

/** Fields of an error object of the API, besides `_tag`. */
// biome-ignore lint/suspicious/noExplicitAny: the fields of an error have the types of its class
type Fields = Readonly<Record<string, any>>;

type Make = (fields: Fields, status: number) => errors.ServiceError;

/** Makes the error of each class from the fields of the error object; `_tag` names the class. */
const made = new Map<{ name: string }, Make>([
  [
    errors.MalformedRequestError,
    ({ message }, status) => new errors.MalformedRequestError(message, status as 400),
  ],
  [errors.ValidationError, ({ message, fields }) => new errors.ValidationError(message, fields)],
  [
    errors.ResourceNotFoundError,
    ({ resource, id, hint }) => new errors.ResourceNotFoundError(resource, id, hint),
  ],
  [
    errors.UnauthorizedError,
    ({ message }) =>
      new errors.UnauthorizedError(`${message} (the key is the value of SVC_API_KEY)`),
  ],
  [
    errors.PaymentRequiredError,
    ({ resource, currentUsage, limit, operation }) =>
      new errors.PaymentRequiredError({ resource, currentUsage, limit, operation }),
  ],
  [errors.ForbiddenError, ({ message }) => new errors.ForbiddenError(message)],
  [errors.ConflictError, ({ resource, message }) => new errors.ConflictError(resource, message)],
  [
    errors.RateLimitedError,
    ({ operation, retryAfterSeconds }) => new errors.RateLimitedError(operation, retryAfterSeconds),
  ],
  [
    errors.ExternalServiceError,
    ({ provider, message }) => new errors.ExternalServiceError(provider, message),
  ],
  [errors.InternalError, ({ message }) => new errors.InternalError(message)],
  [errors.WebhookEnqueueError, ({ message }) => new errors.WebhookEnqueueError(message)],
  [
    errors.CapacityError,
    ({ message, retryAfterSeconds }) => new errors.CapacityError(message, retryAfterSeconds),
  ],
  [
    errors.TimeoutError,
    ({ message, retryAfterSeconds }) => new errors.TimeoutError(message, retryAfterSeconds),
  ],
]);

/** Returns the error of the command for an error of the client; any other error as it is. */
export function asRefusal(error: unknown, url: string): unknown {
  if (!(error instanceof SvcError)) return error;
  const { _tag: tag, status, message } = error;
  const options = { cause: error };
  const [, make] = [...made].find(([{ name }]) => name === tag) ?? [];
  if (make && status !== null) return make(error as unknown as Fields, status);
  if (status === null) {
    const advice = 'Is the daemon running, and is that its address? It comes from --server or';
    return new errors.UnreachableError(`${url}: ${message}. ${advice} SVC_SERVER`, options);
  }
  return new errors.UnreachableError(`${url}: ${message}`, options);
}
