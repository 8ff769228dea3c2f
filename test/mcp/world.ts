// A daemon, and clients of the SDK that reach it over HTTP and by `svc mcp`.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { svc } from '../support/cli.ts';
import type { DaemonHome, DaemonProcess } from '../support/daemon-process.ts';

export const transports = ['http', 'stdio'] as const;
export type TransportName = (typeof transports)[number];

export interface ToolResult {
  isError?: boolean;
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
}

export interface Agent {
  client: Client;
  names(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
}

/** Connects an agent with a key. */
export async function agentOf(
  { home, daemon }: { home: DaemonHome; daemon: DaemonProcess },
  transport: TransportName,
  apiKey: string,
  isReadOnly = false,
): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  if (transport === 'http') {
    const url = new URL(`${daemon.httpUrl}/mcp${isReadOnly ? '?readOnly=true' : ''}`);
    const headers = { authorization: `Bearer ${apiKey}` };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  } else {
    await client.connect(
      new StdioClientTransport({
        command: svc,
        args: ['mcp', ...(isReadOnly ? ['--read-only'] : [])],
        cwd: home.cli.directory,
        env: { ...(home.cli.env as Record<string, string>), SVC_API_KEY: apiKey },
      }),
    );
  }
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as ToolResult,
    close: () => client.close(),
  };
}
