// A check of sends: a single reason to refuse a send, evaluated for a whole batch at once. The
// checks of an area are in a file `send-checks.ts` or a file named for the subject.
// src/outbound/queue/schedule/send-checks.ts states their order.

import type { ServiceError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import type { App } from '../app.ts';

/**
 * Time of a check: when a send is accepted; when scheduled mail falls due, which a refusal cancels;
 * or both.
 */
export type Asked = 'accepting' | 'due' | 'both';

/** Returns the error that refuses a send of the batch; null for an accepted send. */
export type Refuse<Send> = (send: Send) => ServiceError | null;

/** Check of a send; `Send` has the fields that it reads. */
export interface SendCheck<When extends Asked, Send> {
  /** Name of the check in the timeline of a message that it cancels. */
  name: string;
  asked: When;
  /**
   * Reads the data that the whole batch needs, once, and may complete sends for later checks. It
   * does not refuse, as a bad send must not fail the batch: the returned function refuses.
   */
  prepare: (app: App, trx: Db, sends: readonly Send[]) => Refuse<Send> | Promise<Refuse<Send>>;
}
