/**
 * The Chromium of a development package, for machines that have none: unpacked once into the
 * folder of caches, with the libraries and fonts that a bare machine lacks.
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageJson from '#package.json' with { type: 'json' }

export interface PackagedChromium {
  readonly executablePath: string
  /** Variables that its process needs besides the environment. */
  readonly environment: Readonly<Record<string, string>>
}

const version = packageJson.devDependencies['@sparticuz/chromium']
const cache = join(import.meta.dirname, '../../../node_modules/.cache')
// Named by what is in it: folders of before have fonts that are not found.
const folder = join(cache, `chromium-${version}-with-fonts`)

/** The package holds a program for this system alone. */
export const hasPackagedChromium = process.platform === 'linux' && process.arch === 'x64'

/** The package's own names folders of another machine; without any font a page ends the browser. */
const fontsConf = `<?xml version="1.0"?>
<fontconfig><dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'fonts-cache')}</cachedir></fontconfig>
`

/** Test processes that unpack at once do it apart, and the first to end gives the folder its name. */
export async function packagedChromium(): Promise<PackagedChromium> {
  if (!existsSync(folder)) await unpack()
  return {
    executablePath: join(folder, 'chromium'),
    environment: {
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
      // Fontconfig writes its cache below the home folder.
      HOME: folder,
      // The locale C becomes the language `en-US@posix`, which Intl refuses.
      LC_ALL: 'en_US.UTF-8',
    },
  }
}

async function unpack(): Promise<void> {
  await mkdir(cache, { recursive: true })
  const place = await mkdtemp(join(cache, 'chromium-'))
  const packed = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '../bin')
  const before = process.env['TMPDIR']
  // The package unpacks into the folder of temporary files, where another user's may lie already.
  process.env['TMPDIR'] = place
  try {
    const { inflate } = await import('@sparticuz/chromium')
    for (const file of ['chromium.br', 'al2023.tar.br', 'fonts.tar.br']) await inflate(join(packed, file))
    await writeFile(join(place, 'fonts/fonts.conf'), fontsConf)
    await rename(place, folder)
  } catch (cause) {
    await rm(place, { recursive: true, force: true })
    if (!existsSync(folder)) throw cause
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}
