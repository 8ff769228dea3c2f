// MCP for a command: the API in its own process, without a socket, on the store of a daemon.
import { admissionOf } from '../../src/access/admission/admission.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import type { App } from '../../src/core/app.ts';
import { productVersion } from '../http/documents.ts';
import { limitsBy } from '../http/rate-limits.ts';
import { routes } from '../http/routes.ts';
import { createHttpServer } from '../http/server.ts';
import { hiddenAmong } from './hidden.ts';
import { sendTo } from './send.ts';
import { type Connection, mcpOverStdio } from './server.ts';

/** The address of a command: this machine. */
const address = '127.0.0.1';

export interface McpCommand {
  connection: Connection;
  /** Resolves when the client has gone. */
  serve(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the API for one key. */
export async function openMcp(app: App, key: string, isReadOnly: boolean): Promise<McpCommand> {
  const authenticator = createAuthenticator(app);
  const admission = admissionOf(app);
  await admission.start();
  const server = createHttpServer(app, {
    routes,
    authenticate: (plaintext) => authenticator.authenticate(plaintext),
    ...limitsBy(admission),
    isQueueRunning: () => true,
  });
  const connection: Connection = {
    caller: () => authenticator.authenticate(key),
    send: sendTo(server.inject, key, address),
    hiddenIn: (ids) => hiddenAmong(app, ids),
    isReadOnly,
    clock: app.clock,
    version: productVersion,
  };
  return {
    connection,
    serve: () => mcpOverStdio(connection),
    async close() {
      await server.close(0);
      await admission.stop();
      await authenticator.close();
    },
  };
}
