// A command runs the API route of its operation as the operator: the route's schemas parse the arguments, and
// refusals are the same as over HTTP. Routes are loaded only when a command runs.
import type { z } from 'zod';
import type { Answering, Caller, Route } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { CommonFlags } from './command.ts';
import { withCaller } from './session.ts';

/** Loads the route, and with it its area. */
export type LoadRoute<Answer> = () => Promise<Answering<Answer>>;

/** The parts of a request, as the person typed them. */
export interface Input {
  params?: object;
  query?: object;
  body?: object;
  /** Names in lower case. */
  headers?: object;
}

/** Runs a route of the area in an open session, ids completed. @throws ValidationError of all fields. */
export async function runRoute<Answer>(
  app: App,
  caller: Caller,
  route: Answering<Answer>,
  input: Input,
): Promise<Answer> {
  return route.run(app, { caller, ...(await parsed(app, caller, route, input)) });
}

/** Runs a route with a body that has `dryRun: true`. @throws ValidationError of all fields. */
export async function dryRunRoute(
  app: App,
  caller: Caller,
  route: Route,
  body: object,
): Promise<unknown> {
  const request = await parsed(app, caller, route, { body: { ...body, dryRun: true } });
  return route.dryRun?.run(app, { caller, body: request.body });
}

async function parsed(
  app: App,
  caller: Caller,
  route: Route,
  { params = {}, query = {}, headers = {}, body }: Input,
) {
  const { parseParts, requestSchemas } = await import('../../src/core/api/validate.ts');
  const { withWholeIds } = await import('./whole-id.ts');
  const schemas = requestSchemas(route);
  const whole = (schema: z.ZodType, value: unknown) =>
    withWholeIds(app, caller.organizationId, schema, value);
  const { path, ...others } = parseParts({
    path: { schema: schemas.path, value: await whole(schemas.path, params) },
    query: { schema: schemas.query, value: await whole(schemas.query, query) },
    headers: { schema: route.headers, value: headers },
    body: { schema: schemas.body, value: await whole(schemas.body, body) },
  });
  return { ...others, params: path };
}

/** Opens the service, runs the route as the operator in `--org`, closes the service. */
export function callRoute<Answer>(
  flags: CommonFlags,
  load: LoadRoute<Answer>,
  input: Input = {},
): Promise<Answer> {
  return withCaller(flags, async (app, caller) => runRoute(app, caller, await load(), input));
}
