// `svc messages batch`: a table of results, and exit code 8 if a message was refused.
import { Flags } from '@oclif/core';
import type { BatchResult } from '../../src/outbound/messages/schema.ts';
import { BaseCommand, tableFlags } from '../base/command.ts';
import { readJson } from '../base/input/body.ts';
import { idempotencyHeader } from '../base/input/idempotency-key.ts';
import { ExpectationError } from '../base/output/failure.ts';
import { printArray } from '../base/output/output.ts';
import { callRoute } from '../base/route.ts';

const columns = ['index', 'id', 'status', 'error', 'why'];

function rowOf(result: BatchResult) {
  if ('message' in result) {
    const { index, message } = result;
    return { index, id: message.id, status: message.status, error: null, why: null };
  }
  const { index, error } = result;
  const { _tag, message, ...rest } = error;
  return { index, id: null, status: null, error: _tag, why: message ?? JSON.stringify(rest) };
}

export default class MessagesBatch extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Send up to 100 messages';

  static override description =
    'Takes a JSON array of messages as in the API, and prints one result for each. A ' +
    'refused message does not stop the others; the command then ends with exit code 8. ' +
    'With an idempotency key the same array can be given again: no message is sent twice.';

  static override examples = [
    {
      description: 'Send the messages of a file',
      command: 'svc messages batch --data @messages.json',
    },
    {
      description: 'Read from standard input, safe to repeat',
      command: 'svc messages batch --data - --idempotency-key receipts-2026-01 < messages.json',
    },
  ];

  static override flags = {
    data: Flags.string({
      description: 'JSON array of messages: inline, @FILE, or - for standard input',
      helpValue: 'JSON',
      required: true,
    }),
    'idempotency-key': Flags.string({
      description: 'Idempotency key: a repeat with it returns the first results',
    }),
    ...tableFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(MessagesBatch);
    const headers = idempotencyHeader(flags['idempotency-key']);
    const body = (await readJson(flags.data)) as object;
    const load = async () =>
      (await import('../../src/outbound/sending/routes.ts')).sendingRoutes.sendBatch;
    const results = await callRoute(flags, load, { headers, body });
    if (flags.json) await printArray(flags, results, [], '');
    else await printArray(flags, results.map(rowOf), columns, '');
    const refused = results.filter((result) => 'error' in result).length;
    if (refused === 0) return;
    throw new ExpectationError(`${refused} of ${results.length} messages were refused`);
  }
}
