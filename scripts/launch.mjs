// The entry point of every npm script. It runs on Node 20 or newer (and says so on an older one) and needs no packages.
// It downloads what is missing, Node 24, pnpm and the packages, and hands over to the TypeScript in this folder.
const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  console.error(
    `EloquentPoll needs Node 20 or newer, this is ${process.version}: install a newer Node and run it again.`,
  );
  process.exitCode = 1;
} else {
  void import('./launch/main.mjs').then((launcher) => launcher.main(process.argv.slice(2)));
}
