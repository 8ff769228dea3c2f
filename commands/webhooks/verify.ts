// `svc webhooks verify`: checks that this service sent a received request. Needs no store.
import { Flags } from '@oclif/core';
import { ValidationError } from '../../src/platform/errors.ts';
import { BaseCommand } from '../base/command.ts';
import { readInput, readText } from '../base/input/files.ts';
import { print } from '../base/output/output.ts';

/** Reads a line `name: value` for each header; skips other lines. */
function readHeaders(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const [, name, value = ''] = /^([^:\s]+):(.*)$/.exec(line.trimEnd()) ?? [];
    return name === undefined ? [] : [[name.toLowerCase(), value.trim()] as const];
  });
  return Object.fromEntries(lines);
}

export default class WebhooksVerify extends BaseCommand {
  static override summary = 'Check the signature of a received webhook';

  static override description =
    'Reads the body from standard input, byte for byte as received. The time of the ' +
    'signature must be within 5 minutes of now, unless --any-time is given.';

  static override examples = [
    {
      description: 'Check a request that was saved',
      command: 'svc webhooks verify --secret-file secret --headers headers --any-time < body',
    },
  ];

  static override flags = {
    'secret-file': Flags.string({
      description: 'File with the secret of the endpoint (whsec_…)',
      helpValue: 'FILE',
      required: true,
    }),
    headers: Flags.string({
      description: 'File with the headers, one line `name: value` each',
      helpValue: 'FILE',
      required: true,
    }),
    'any-time': Flags.boolean({ description: 'Accept signatures of any age' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(WebhooksVerify);
    const secret = (await readText(flags['secret-file'])).trim();
    const headers = readHeaders(await readText(flags.headers));
    const body = await readInput('-');
    const [{ signatureProblem }, { systemClock }] = await Promise.all([
      import('../../src/webhooks/posting/signature.ts'),
      import('../../src/platform/runtime/clock.ts'),
    ]);
    const now = flags['any-time'] ? undefined : systemClock.now();
    const problem = signatureProblem(secret, headers, body, now);
    if (problem !== null) throw new ValidationError(`not verified: ${problem}`);
    await print(flags, { verified: true, id: headers['webhook-id'] }, () => {
      return `verified: ${headers['webhook-id']}`;
    });
  }
}
