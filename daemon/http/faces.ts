// How the console and MCP call routes: within the process, through the checks of
// src/service/door/door.ts, with the same shares of capacity as requests over HTTP.
import type { Caller, Doorway } from '../../src/core/api/route.ts';
import { UnauthorizedError } from '../../src/platform/errors.ts';
import { sliceTurns } from '../../src/platform/runtime/fairness/loop-turns.ts';
import { answer, type Door, enter, type Input } from '../../src/service/door/door.ts';
import { reported } from './errors.ts';
import type { Workload } from './workload.ts';

/** A caller, and the request in which it asks. */
export interface Asker {
  caller: Caller;
  /** Remote address of the connection. */
  peer: string;
  requestId: string;
}

/** Calls a route. @throws ServiceError, counted and logged as over HTTP */
export type Ask = <Answer>(asker: Asker, way: Doorway<Answer>, input?: Input) => Promise<Answer>;

/** Returns the function by which the console and MCP call routes. */
export function askWithin(door: Door, workload: Workload): Ask {
  return async ({ caller, peer, requestId }, way, input = {}) => {
    const { organizationId } = caller;
    const { id } = (input.params ?? {}) as { id?: string };
    const { method, path: route } = way;
    try {
      await workload.begin(() => enter(door, caller, way, { peer, id }));
      return await workload.runFor(organizationId, async () => {
        await sliceTurns(`${method} ${route}`, organizationId);
        return answer(door.app, caller, way, input);
      });
    } catch (error) {
      throw reported(door.app, error, { requestId, method, route });
    }
  };
}

/** Calls a route as a known caller. @throws ServiceError */
export type AskRoute = <Answer>(way: Doorway<Answer>, input?: Input) => Promise<Answer>;

/** Returns a function that calls routes with a key; `find` looks the key up at each call. */
export function askByKey(
  ask: Ask,
  find: () => Promise<Caller | null>,
  from: () => Omit<Asker, 'caller'>,
): AskRoute {
  return async (way, input) => {
    const caller = await find();
    if (!caller) throw new UnauthorizedError('The API key is not valid');
    return ask({ ...from(), caller }, way, input);
  };
}
