// The open service that a command calls: the store on this machine, or a remote server. Both answer
// the routes of the API. route.ts opens them.
import type { Svc } from '../../client/index.js';
import type { Caller, Doorway } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { FindIds } from './input/whole-id.ts';
import type { Server } from './remote/server.ts';

/** The parts of a request, as the person typed them. */
export interface Input {
  params?: object;
  query?: object;
  body?: object;
  /** Headers, with names in lower case. */
  headers?: object;
}

/** The open store, with the operator as the caller. */
export interface Local {
  app: App;
  caller: Caller;
}

/** A remote server, with an HTTP client for the API. */
export type OpenServer = Server & { client: Svc };

/** The open service of a command: the store on this machine, or a remote server. */
export type Session = Asking &
  ({ local: Local; server: null } | { local: null; server: OpenServer });

interface Asking {
  /**
   * Completes endings of ids and `@last` (input/whole-id.ts), then calls the route. @throws as the
   * route; ValidationError naming all bad fields
   */
  ask<Answer>(route: Doorway<Answer>, input?: Input): Promise<Answer>;
  findIds: FindIds;
  /** Returns the time of the store, or of this machine for a server, in ms since 1970. */
  now(): number;
}
