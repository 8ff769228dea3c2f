// Turns the error of a request to the server into the error that the same command has on the store
// beside it: the same text, the same object with --json, the same exit code.
import { SvcError } from '../../../client/index.js';
import * as errors from '../../../src/platform/errors.ts';

/** Fields of an error object of the API, besides `_tag`. */
// biome-ignore lint/suspicious/noExplicitAny: the fields of an error have the types of its class
type Fields = Readonly<Record<string, any>>;

/** Makes the error of each `_tag` from the fields of its object. */
const made: Readonly<Record<string, (fields: Fields, status: number) => errors.ServiceError>> = {
  MalformedRequestError: ({ message }, status) =>
    new errors.MalformedRequestError(message, status as 400),
  ValidationError: ({ message, fields }) => new errors.ValidationError(message, fields),
  ResourceNotFoundError: ({ resource, id, hint }) =>
    new errors.ResourceNotFoundError(resource, id, hint),
  UnauthorizedError: ({ message }) =>
    new errors.UnauthorizedError(`${message} (the key is the value of SVC_API_KEY)`),
  PaymentRequiredError: ({ resource, currentUsage, limit, operation }) =>
    new errors.PaymentRequiredError({ resource, currentUsage, limit, operation }),
  ForbiddenError: ({ message }) => new errors.ForbiddenError(message),
  ConflictError: ({ resource, message }) => new errors.ConflictError(resource, message),
  RateLimitedError: ({ operation, retryAfterSeconds }) =>
    new errors.RateLimitedError(operation, retryAfterSeconds),
  ExternalServiceError: ({ provider, message }) =>
    new errors.ExternalServiceError(provider, message),
  InternalError: ({ message }) => new errors.InternalError(message),
  WebhookEnqueueError: ({ message }) => new errors.WebhookEnqueueError(message),
  CapacityError: ({ message, retryAfterSeconds }) =>
    new errors.CapacityError(message, retryAfterSeconds),
  TimeoutError: ({ message, retryAfterSeconds }) =>
    new errors.TimeoutError(message, retryAfterSeconds),
};

/** Returns the error of the command for an error of the client; any other error as it is. */
export function asRefusal(error: unknown, url: string): unknown {
  if (!(error instanceof SvcError)) return error;
  const { _tag: tag, status, message } = error;
  const options = { cause: error };
  const make = status === null ? undefined : made[tag];
  if (make && status !== null) return make(error as unknown as Fields, status);
  if (status === null) {
    const advice = 'Is the daemon running, and is that its address? It comes from --server or';
    return new errors.UnreachableError(`${url}: ${message}. ${advice} SVC_SERVER`, options);
  }
  return new errors.UnreachableError(`${url}: ${message}`, options);
}
