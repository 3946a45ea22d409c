// The values of `--backend`.

public import ArchiverKit
public import ArgumentParser

extension WatchBackend: ExpressibleByArgument {}
