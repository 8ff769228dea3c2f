// Hostile mails that an agent reads over MCP: HTML that seems to hide text, and texts of signs that
// no reader sees.
import type { Api } from './api.ts';
import type { Attack } from './attackers.ts';
import { times } from './http-attacks.ts';
import type { Seeded } from './seed-contents.ts';
import type { Siege } from './siege.ts';

const agents = 4;

export function mcpAttacks(
  { boundKey, mailboxId }: Siege,
  api: Api,
  { hostileThreadId: threadId }: Seeded,
): Record<string, Attack> {
  const uri = `svc://mailboxes/${mailboxId}/threads/${threadId}`;
  const calls = [
    ['tools/call', { name: 'threads_list_messages', arguments: { mailboxId, threadId } }],
    ['resources/read', { uri }],
    ['tools/call', { name: 'threads_list', arguments: { mailboxId, limit: 100 } }],
  ] as const;
  const headers = {
    authorization: `Bearer ${boundKey}`,
    accept: 'application/json, text/event-stream',
  };
  let asked = 0;
  return times(agents, 'mail read over MCP', async () => {
    asked += 1;
    const [method, params] = calls[asked % calls.length] ?? calls[0];
    const body = { jsonrpc: '2.0', id: asked, method, params };
    const { status, text } = await api.ask('/mcp', { method: 'POST', body, headers });
    return text.includes('"isError":true') || text.includes('"error":') ? 'error' : String(status);
  });
}
