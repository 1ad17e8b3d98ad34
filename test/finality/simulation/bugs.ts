/** Mistakes of a program that believes certificates, each planted at a port, as a wrong one would act. */

export const finalityBugs = [
  'the view must be that of the header',
  'the epoch is not bound to the height',
  'ancestors are not linked',
  'a proof is stored after finality moved',
  'words of endpoints count after the first certificate',
  'words from before the first certificate count to the end of a pass',
  'what is final above a certificate is taken back',
  'a certificate below the lane takes it back',
] as const

export type FinalityBug = (typeof finalityBugs)[number]
