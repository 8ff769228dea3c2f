// `svc mcp`: daemon/mcp on standard input and output.
import { Flags } from '@oclif/core';
import { BaseCommand } from './base/command.ts';
import { keptAlive } from './base/keep-alive.ts';
import { withApp } from './base/session.ts';

export default class Mcp extends BaseCommand {
  static override summary = 'Serve an agent over MCP, on standard input and output';

  static override description =
    'Acts with the API key in SVC_API_KEY, within its permissions and limits. Tools are the operations that the key may ' +
    'use. A key with the send mode approval only proposes: a person approves each mail. A daemon serves the same at ' +
    'POST /mcp.';

  static override examples = [
    {
      description: 'Let an agent look, and change nothing',
      command: 'svc mcp --read-only',
    },
  ];

  static override flags = {
    'read-only': Flags.boolean({ description: 'List and call only tools that read' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Mcp);
    const key = process.env.SVC_API_KEY ?? '';
    const { UnauthorizedError } = await import('../src/platform/errors.ts');
    if (key === '') {
      throw new UnauthorizedError('An API key is missing: set SVC_API_KEY to the key of the agent');
    }
    await withApp(flags, async (app) => {
      const { openMcp } = await import('../daemon/mcp/command.ts');
      const mcp = await openMcp(app, key, flags['read-only']);
      try {
        if (!(await mcp.connection.caller())) {
          throw new UnauthorizedError('The API key in SVC_API_KEY is not valid');
        }
        await keptAlive(() => mcp.serve());
      } finally {
        await mcp.close();
      }
    });
  }
}
