// Builds the archives that reports come in.
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipFile {
  name: string;
  content: Buffer;
  method?: 0 | 8;
  /** A false unpacked size. */
  bytes?: number;
  flags?: number;
}

function localPart({ name, content, method = 8, flags = 0 }: ZipFile): Buffer {
  const packed = method === 8 ? deflateRawSync(content) : content;
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(flags, 6);
  head.writeUInt16LE(method, 8);
  head.writeUInt16LE(Buffer.byteLength(name), 26);
  return Buffer.concat([head, Buffer.from(name), packed]);
}

function centralPart(file: ZipFile, local: Buffer, localAt: number): Buffer {
  const { name, content, method = 8, bytes = content.length, flags = 0 } = file;
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(flags, 8);
  head.writeUInt16LE(method, 10);
  head.writeUInt32LE(crc32(content), 16);
  head.writeUInt32LE(local.length - 30 - Buffer.byteLength(name), 20);
  head.writeUInt32LE(bytes, 24);
  head.writeUInt16LE(Buffer.byteLength(name), 28);
  head.writeUInt32LE(localAt, 42);
  return Buffer.concat([head, Buffer.from(name)]);
}

export function zip(files: ZipFile[], comment = ''): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let at = 0;
  for (const file of files) {
    const local = localPart(file);
    centrals.push(centralPart(file, local, at));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, directory, end, Buffer.from(comment)]);
}
