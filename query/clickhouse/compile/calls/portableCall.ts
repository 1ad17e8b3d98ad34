/** A call whose arguments are compiled. */
import type { CallExpression } from '../../parse/ast.ts'
import type { Compiled, Compiler } from '../Compiler.ts'
import type { FunctionRule } from './functions.ts'

export interface PortableCall {
  readonly compiler: Compiler
  readonly call: CallExpression
  readonly rule: FunctionRule
  readonly args: readonly Compiled[]
}
