/** Which npm package has an engine for this platform, and what is said where none is installed. */
import { type EngineName, EngineStartError } from './errors.ts'

export interface EnginePackage {
  readonly engine: EngineName
  /** The package for each platform there is one for, by `process.platform`-`process.arch`. */
  readonly packages: Readonly<Record<string, string>>
  /** The setting that names a server of one's own, which needs no package. */
  readonly setting: string
}

/**
 * Path of the package's entry, as `resolve` finds it.
 * @throws EngineStartError naming what is missing and the setting that replaces it, such as after an
 * install without optional dependencies.
 */
export function resolveEngine(
  { engine, packages, setting }: EnginePackage,
  dataDir: string,
  resolve: (name: string) => string,
  platform: string = `${process.platform}-${process.arch}`,
): string {
  const instead = `Set ${setting} to a server of your own`
  const name = packages[platform]
  if (name === undefined) {
    const problem = `there is no ${engine} engine for the platform ${platform}. ${instead}.`
    throw new EngineStartError(engine, dataDir, problem)
  }
  try {
    return resolve(name)
  } catch (cause) {
    const problem = `the optional package ${name} is not installed. ${instead}, or run npm install with optional dependencies.`
    throw new EngineStartError(engine, dataDir, problem, { cause })
  }
}
