// A check of a send: one reason for which it may be refused, asked for a whole batch at once. The area
// that knows the reason has the check, in a file `send-checks.ts` or by its subject; their order is
// src/queue/send-checks.ts.
import type { App } from '../app.ts';
import type { ServiceError } from '../errors.ts';
import type { Db } from '../store/db.ts';

/**
 * When a check is asked: as a send is accepted; as the time of scheduled mail has come, which is
 * cancelled then; or both.
 */
export type Asked = 'accepting' | 'due' | 'both';

/** The refusal of one send of the batch, or null. */
export type Refuse<Send> = (send: Send) => ServiceError | null;

/** `Send`: what of a send the check has to know. */
export interface SendCheck<When extends Asked, Send> {
  /** In the timeline of what it cancels. */
  name: string;
  asked: When;
  /**
   * Reads once whatever the batch needs, nothing where no send of it does, and may complete its sends
   * for the checks that come after. Refuses nothing yet: a send that is refused costs its neighbours no
   * answer.
   */
  prepare: (app: App, trx: Db, sends: readonly Send[]) => Refuse<Send> | Promise<Refuse<Send>>;
}
