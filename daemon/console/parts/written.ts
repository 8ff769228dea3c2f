// Actions of forms that are drawn again with the error if the API refuses.
import type { Right } from '../../../src/core/api/route.ts';
import { type Refusal, refusalOf } from '../api.ts';
import { html, type Part } from '../html.ts';
import type { Action, Asked, Form, Outcome, View } from '../page.ts';
import { checkSeen } from './seen.ts';

/** Draws the sentence of a refusal, above the form or list that was refused. */
export function problemOf({ message }: Pick<Refusal, 'message'>): Part {
  return html`<p class="problem" role="alert">${message}</p>`;
}

/** Runs an action of a form; draws the form again with the error if the API refuses. */
export async function orAgain<Result extends Outcome>(
  act: () => Promise<Result>,
  draw: (problem: Part) => Promise<View> | View,
): Promise<Result | View> {
  try {
    return await act();
  } catch (error) {
    const refusal = refusalOf(error);
    return { ...(await draw(problemOf(refusal))), status: refusal.status, refusal };
  }
}

/**
 * Returns an action. If the API refuses it, the form is drawn again with the values and the error.
 * `asks` says before which act a fresh proof is asked for.
 */
export function written(
  needs: Right | null,
  act: (asked: Asked, given: Form) => Promise<Outcome>,
  draw: (asked: Asked, given: Form, problem: Part) => Promise<View> | View,
  asks?: string,
): Action {
  return {
    needs,
    ...(asks !== undefined && { asks }),
    async run(asked, given) {
      const checked = await checkSeen(asked, given);
      const again = checked ? { ...asked, seen: checked.seen } : asked;
      return orAgain(
        async () => {
          if (checked?.refusal) throw checked.refusal;
          return act(asked, given);
        },
        (problem) => draw(again, given, problem),
      );
    },
  };
}
