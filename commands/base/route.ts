// A command runs the API route of the operation as the operator: the schemas of the route parse the
// arguments, and refusals are the same as over HTTP.
import type { z } from 'zod';
import type { Answering, Caller, Doorway } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { CommonFlags } from './command.ts';
import { withCaller } from './session.ts';

/** Loads the module of the route, and with it the area. */
export type LoadRoute<Answer> = () => Promise<Answering<Answer>>;

/** The parts of a request, as the person typed them. */
export interface Input {
  params?: object;
  query?: object;
  body?: object;
  /** Headers, with names in lower case. */
  headers?: object;
}

/**
 * Runs a route of the area in an open session, after completing ids. @throws ValidationError with
 * all invalid fields.
 */
export async function runRoute<Answer>(
  app: App,
  caller: Caller,
  route: Doorway<Answer>,
  input: Input,
): Promise<Answer> {
  const { ask } = await import('../../src/service/door/door.ts');
  const { requestSchemas } = await import('../../src/core/api/validate.ts');
  const { withWholeIds } = await import('./input/whole-id.ts');
  const { path, query, body } = requestSchemas(route);
  const whole = <Value>(schema: z.ZodType, value: Value) =>
    withWholeIds(app, caller.organizationId, schema, value) as Promise<Value>;
  return ask({ app }, caller, route, {
    params: await whole(path, input.params ?? {}),
    query: await whole(query, input.query ?? {}),
    headers: input.headers ?? {},
    body: await whole(body, input.body),
  });
}

/** Opens the service, runs the route as the operator in `--org`, closes the service. */
export function callRoute<Answer>(
  flags: CommonFlags,
  load: LoadRoute<Answer>,
  input: Input = {},
): Promise<Answer> {
  return withCaller(flags, async (app, caller) => runRoute(app, caller, await load(), input));
}
