// Pages after a refusal: the page comes back with the typed values, the sentence above, and the
// fault at the field (parts/typed.ts).
import type { AskRoute } from '../http/faces.ts';
import { type Download, Refusal, refusalOf } from './api.ts';
import { html, type Part, together } from './html.ts';
import type { Action, Asked, Form, Outcome, Page, View } from './page.ts';
import { checkSeen } from './parts/seen.ts';

/** Statuses of a refused query that a person can correct. */
const ofInput: readonly number[] = [400, 422];

/** Draws the sentence of a refusal, above the form or list that was refused. */
export function problemOf({ message }: Pick<Refusal, 'message'>): Part {
  return html`<p class="problem" role="alert">${message}</p>`;
}

/** Runs `act`. After a refusal below status 500, returns the page that `draw` makes instead. */
export async function orAgain<Result extends Outcome>(
  act: () => Promise<Result>,
  draw: (problem: Part, refusal: Refusal) => Promise<View> | View,
): Promise<Result | View> {
  try {
    return await act();
  } catch (error) {
    const refusal = refusalOf(error);
    const { status } = refusal;
    if (status >= 500) throw error;
    return { ...(await draw(problemOf(refusal), refusal)), status, refusal };
  }
}

/** Runs an action of a form. If it is refused, the page of the form comes back. */
export async function acted(
  page: Page,
  asked: Asked,
  given: Form,
  { run }: Action,
): Promise<Outcome> {
  const checked = await checkSeen(asked, given);
  const again = checked ? { ...asked, seen: checked.seen } : asked;
  return orAgain(
    async () => {
      if (checked?.refusal) throw checked.refusal;
      return run(asked, given);
    },
    async (problem, refusal) => {
      const view = await page.show({ ...again, problem }).catch(() => null);
      if (view === null || 'bytes' in view) throw refusal;
      return view.isBare ? view : { ...view, body: together(problem, view.body) };
    },
  );
}

/** Returns the names of typed values in the query of a request that the route refused. */
function wrongIn({ fields }: Refusal, query: object, typed: Form): string[] {
  const values = Object.values(typed);
  const given = Object.entries(query).filter(([, value]) => value && values.includes(value));
  const names = given.map(([name]) => name);
  const faulty = names.filter((name) => Object.hasOwn(fields, name));
  return faulty.length > 0 ? faulty : names;
}

/** Returns a refusal with the faults also under the names of the fields that the visitor filled. */
function atTyped(refusal: Refusal, query: Form, typed: Form): Refusal {
  const { status, message, tag, fields, requestId } = refusal;
  const named = Object.entries(typed).flatMap(([name, value]) => {
    const faults = Object.entries(fields).find(([path]) => value !== '' && query[path] === value);
    return faults ? [[name, faults[1]] as const] : [];
  });
  const all = { ...fields, ...Object.fromEntries(named) };
  return new Refusal(status, { _tag: tag, message, fields: all }, requestId);
}

/**
 * Shows a page. After a refusal of typed values a route is asked again without these values, so
 * that the page is shown together with the fault.
 */
export async function showLeniently(page: Page, asked: Asked): Promise<View | Download> {
  const refusals: Refusal[] = [];
  const ask: AskRoute = async (way, input = {}) => {
    try {
      return await asked.ask(way, input);
    } catch (error) {
      const refusal = refusalOf(error);
      const { query = {} } = input;
      const wrong = wrongIn(refusal, query, asked.query);
      if (way.method !== 'GET' || !ofInput.includes(refusal.status) || wrong.length === 0) {
        throw error;
      }
      refusals.push(atTyped(refusal, query as Form, asked.query));
      const rest = Object.entries(query).filter(([name]) => !wrong.includes(name));
      return ask(way, { ...input, query: Object.fromEntries(rest) });
    }
  };
  const view = await page.show({ ...asked, ask });
  const [refusal] = refusals;
  if (!refusal || 'bytes' in view) return view;
  const body = together(problemOf(refusal), view.body);
  return { ...view, body, status: refusal.status, refusal };
}
