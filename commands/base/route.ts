// Runs the API route of a command: on the local store as the operator, or at the server of
// `--server` with an API key. The schemas of the route parse the arguments, and the errors are the
// same in both cases.
import type { Answering, Caller, Doorway } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { Input, Local, Session } from './asking.ts';
import type { CommonFlags } from './command.ts';
import { withCaller } from './session.ts';

/** Imports the module of a route, and thereby the code behind the route: only on demand. */
export type LoadRoute<Answer> = () => Promise<Answering<Answer>>;

/**
 * Completes endings of ids and `@last`, then runs a route on an open store. @throws ValidationError
 * naming all bad fields
 */
export async function runRoute<Answer>(
  app: App,
  caller: Caller,
  route: Doorway<Answer>,
  input: Input,
): Promise<Answer> {
  const { ask } = await import('../../src/service/door/door.ts');
  const { idsInStore, wholeInput } = await import('./input/whole-id.ts');
  const whole = await wholeInput(idsInStore(app, caller.organizationId), route, input);
  return ask({ app }, caller, route, { ...whole, headers: input.headers ?? {} });
}

/** Opens the service for routes, runs `work`, closes the service. */
export async function withSession<T>(
  flags: CommonFlags,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  if (flags.server !== undefined) {
    const { serverAt } = await import('./remote/server.ts');
    const { openServer } = await import('./remote/server-session.ts');
    return work(await openServer(serverAt(flags.server)));
  }
  return withCaller(flags, async (app, caller) => work(await storeSession(app, caller)));
}

/** Returns the session with an open store, for an organization. */
export async function storeSession(app: App, caller: Caller): Promise<Session> {
  const { idsInStore } = await import('./input/whole-id.ts');
  return {
    ask: (route, input = {}) => runRoute(app, caller, route, input),
    findIds: idsInStore(app, caller.organizationId),
    now: () => app.clock.now(),
    local: { app, caller },
    server: null,
  };
}

/**
 * Returns the store of a session, for a part of a command that no route has. @throws UsageError
 * with a server; it names `part`
 */
export async function storeOf({ local, server }: Session, part: string): Promise<Local> {
  if (local) return local;
  const { withoutRoute } = await import('./remote/server.ts');
  throw withoutRoute(part, server.url);
}

/** Opens the service, asks the route, closes the service. */
export function callRoute<Answer>(
  flags: CommonFlags,
  load: LoadRoute<Answer>,
  input: Input = {},
): Promise<Answer> {
  return withSession(flags, async (session) => session.ask(await load(), input));
}
