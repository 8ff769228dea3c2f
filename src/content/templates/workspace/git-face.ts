// The repository of a template for git clients: the branch, packs, and pushes.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { ConflictError, ValidationError } from '../../../platform/errors.ts';
import { mainRef } from '../../git/repository.ts';
import {
  advertise,
  answerFetch,
  type GitService,
  RefusedPush,
  readFetch,
  readPush,
  reportOf,
} from '../../git/smart-http.ts';
import { headOf, receivePush } from './incoming.ts';

/** Answers the first request of a git client. @throws ResourceNotFoundError */
export async function answerGitRefs(
  app: App,
  caller: Caller,
  templateId: string,
  service: GitService,
): Promise<Buffer> {
  return advertise(service, await headOf(app, caller, templateId));
}

/** Answers a request to fetch, in pieces. @throws ResourceNotFoundError, MalformedRequestError */
export async function answerGitFetch(
  app: App,
  caller: Caller,
  templateId: string,
  body: Buffer,
): Promise<AsyncIterable<Buffer>> {
  const head = await headOf(app, caller, templateId);
  return answerFetch(app.store.db, templateId, head, readFetch(body));
}

/**
 * Answers a request to push with a report, even if the push is refused. @throws
 * ResourceNotFoundError, MalformedRequestError
 */
export async function answerGitPush(
  app: App,
  caller: Caller,
  templateId: string,
  body: Buffer,
): Promise<Buffer> {
  await headOf(app, caller, templateId);
  let isBanded = false;
  try {
    const push = readPush(body);
    if (!push) return Buffer.alloc(0);
    isBanded = push.isBanded;
    await receivePush(app, caller, templateId, push);
    return reportOf(mainRef, isBanded, null);
  } catch (error) {
    if (error instanceof RefusedPush) return reportOf(error.ref, error.isBanded, error.message);
    const isRefusal = error instanceof ValidationError || error instanceof ConflictError;
    if (!isRefusal) throw error;
    return reportOf(mainRef, isBanded, error.message);
  }
}
