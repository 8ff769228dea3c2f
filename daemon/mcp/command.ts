// MCP for a command: runs the routes in the command's process, on the store of a daemon.
import { admissionOf } from '../../src/access/admission/admission.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import type { App } from '../../src/core/app.ts';
import { awaitInMailbox } from '../../src/inbox/threads/expect.ts';
import { hiddenAmong } from '../../src/outbound/messages/contents/hidden-words.ts';
import { program } from '../../src/platform/runtime/program.ts';
import { askByKey, askWithin } from '../http/faces.ts';
import { limitsBy } from '../http/rate-limits.ts';
import { newRequestId } from '../http/request-id.ts';
import { openWorkload } from '../http/workload.ts';
import { type Connection, mcpOverStdio } from './server.ts';

/** Client address in the log and the audit for calls of a command: this machine. */
const peer = '127.0.0.1';

export interface McpCommand {
  connection: Connection;
  /** Resolves when the client has disconnected. */
  serve(): Promise<void>;
  close(): Promise<void>;
}

/** Creates the MCP connection of a key: the tools are the routes that the key may use. */
export async function openMcp(app: App, key: string, isReadOnly: boolean): Promise<McpCommand> {
  const authenticator = createAuthenticator(app);
  const admission = admissionOf(app);
  await admission.start();
  const ask = askWithin({ app, admit: limitsBy(admission).admit }, openWorkload(app));
  const caller = () => authenticator.authenticate(key);
  const connection: Connection = {
    caller,
    ask: askByKey(ask, caller, () => ({ peer, requestId: newRequestId(app.random) })),
    hiddenIn: async (ids) => hiddenAmong(app, await caller(), ids),
    awaitMail: async (wanted) => {
      const known = await caller();
      return known && awaitInMailbox(app, known.organizationId, wanted);
    },
    isReadOnly,
    version: program.version,
  };
  return {
    connection,
    serve: () => mcpOverStdio(connection),
    async close() {
      await admission.stop();
      await authenticator.close();
    },
  };
}
