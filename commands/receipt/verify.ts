// `svc receipt verify`. Needs no store. The checks: src/receipts/verify.ts.
import { Args, Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { readJsonFile } from '../base/input/body.ts';
import { readInput } from '../base/input/files.ts';
import { ExpectationError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';

export default class ReceiptVerify extends BaseCommand {
  static override summary = 'Check a receipt; needs no store and no daemon';

  static override description =
    'Checks each event, attempt and digest up to the signature of the head, and that none is ' +
    'left out: version 1 of a receipt does not prove that. Ends with exit ' +
    'code 8, and names each part that is not what was sealed. Compare the key with the one ' +
    'at /.well-known/svc-receipts.json of the sender, or give that file with --keys.';

  static override examples = [
    { description: 'Check a receipt', command: 'svc receipt verify receipt.json' },
    {
      description: 'Check that it is about this mail, and signed by a known key',
      command: 'svc receipt verify receipt.json --mime mail.eml --keys svc-receipts.json',
    },
  ];

  static override args = {
    file: Args.string({
      description: 'File with the receipt, or - for standard input',
      required: true,
    }),
  };

  static override flags = {
    mime: Flags.string({ description: 'The mail as it was sent', helpValue: 'FILE' }),
    keys: Flags.string({
      description: 'Trusted keys, as /.well-known/svc-receipts.json has them',
      helpValue: 'FILE',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ReceiptVerify);
    const { isCompletenessProven, keyIdsOf, soundWords, verifyReceipt } = await import(
      '../../src/receipts/verify.ts'
    );
    const receipt = await readJsonFile(args.file, 'FILE');
    const { mime, keys } = flags;
    const keyIds = keys === undefined ? undefined : keyIdsOf(await readJsonFile(keys, '--keys'));
    const bytes = mime === undefined ? undefined : await readInput(mime);
    const problems = verifyReceipt(receipt, { mime: bytes, keyIds });
    const valid = problems.length === 0;
    const complete = valid && isCompletenessProven(receipt);
    await print(flags, { valid, complete, problems }, () =>
      valid
        ? soundWords(receipt, { isMimeGiven: mime !== undefined, areKeysGiven: keys !== undefined })
        : problems.map(({ part, problem }) => `${part}: ${problem}`).join('\n'),
    );
    if (!valid) throw new ExpectationError('the receipt is not sound');
  }
}
