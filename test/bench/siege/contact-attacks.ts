// The attacks of a tenant by files of contacts: cells that cost much to read, and exports taken as
// fast as they come.
import type { Api } from './api.ts';
import type { Attack } from './attackers.ts';
import { times } from './http-attacks.ts';
import type { Siege } from './siege.ts';

const cellBytes = 60_000;
const files = [
  // A status of consent that is all spaces, but for its end.
  `email,status\na@b.example,${' '.repeat(cellBytes)}x\n`,
  `email,firstName\na@b.example,"${'""'.repeat(cellBytes / 2)}"\n`,
  `email,tags\na@b.example,${'a;'.repeat(cellBytes / 2)}\n`,
  `email,firstName\n"a@b.example,${'x\n'.repeat(cellBytes)}`,
  `${','.repeat(cellBytes)}\n`.repeat(20),
  `email,customFields\na@b.example,"${'[{""a"":'.repeat(cellBytes / 8)}"\n`,
  `email\n${'\n'.repeat(cellBytes)}`,
  `email,firstName\n${'=cmd()@b.example,=1+1\n'.repeat(cellBytes)}`,
];

export function contactAttacks({ apiKey: key }: Siege, api: Api): Record<string, Attack> {
  let sent = 0;
  return {
    ...times(2, 'hostile CSV', async () => {
      sent += 1;
      const headers = { 'content-type': 'text/csv' };
      const raw = files[sent % files.length] ?? '';
      const path = '/v1/contacts/import';
      return String((await api.ask(path, { method: 'POST', key, raw, headers })).status);
    }),
    ...times(2, 'export that is read', async (n) => {
      const format = n === 0 ? 'csv' : 'ndjson';
      return String((await api.ask(`/v1/contacts/export?format=${format}`, { key })).status);
    }),
  };
}
