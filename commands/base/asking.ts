// The open service of a command, as it asks routes: the store on this machine, or a server.
// route.ts opens both.
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

/** The open store, and the operator. */
export interface Local {
  app: App;
  caller: Caller;
}

/** A server, with the client that asks it. */
export type OpenServer = Server & { client: Svc };

/** The open service of a command: the store beside it, or a server. */
export type Session = Asking &
  ({ local: Local; server: null } | { local: null; server: OpenServer });

interface Asking {
  /** Asks a route, ids completed. @throws as the route; ValidationError of all fields */
  ask<Answer>(route: Doorway<Answer>, input?: Input): Promise<Answer>;
  findIds: FindIds;
  /** Returns the time of the store, or of this machine beside a server, in ms since 1970. */
  now(): number;
}
