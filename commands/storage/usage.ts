// `svc storage usage`. src/doctor/storage-usage.ts computes the sums.

import { BaseCommand, tableFlags } from '../base/command.ts';
import { bytesInWords } from '../base/input/bytes.ts';
import { printList } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

const columns = ['name', 'total', 'content', 'fileBytes', 'files', 'templates'];

export default class StorageUsage extends BaseCommand {
  static override summary = 'Show the room that each organization takes in the store';

  static override description =
    'Content is HTML and text, shared by equal messages; files are attachments and received mail; templates have ' +
    'their whole history. Reads all of it: on a large store it takes a while. retention.messagesDays ' +
    'and retention.contentDays make it smaller.';

  static override examples = [
    { description: 'Show the room by organization', command: 'svc storage usage' },
  ];

  static override flags = tableFlags;

  async run(): Promise<void> {
    const { flags } = await this.parse(StorageUsage);
    const usage = await withApp(flags, async (app) => {
      const { storageUsage } = await import('../../src/doctor/storage-usage.ts');
      return storageUsage(app);
    });
    const { storeBytes, freeBytes, organizations: items } = usage;
    const rows = items.map(
      ({ name, totalBytes, contentBytes, fileBytes, files, templateBytes }) => ({
        name,
        total: bytesInWords(totalBytes),
        content: bytesInWords(contentBytes),
        fileBytes: bytesInWords(fileBytes),
        files,
        templates: bytesInWords(templateBytes),
      }),
    );
    const free = freeBytes === null ? '' : `, ${bytesInWords(freeBytes)} of it free for new rows`;
    const note = `The store has ${bytesInWords(storeBytes)} with its indexes${free}.`;
    const listing = { storeBytes, freeBytes, items };
    const whenEmpty = 'The store has no mail and no template yet.';
    await printList(flags, listing, columns, whenEmpty, { rows, note });
  }
}
