// A chart of sizes over a year.

/// A line chart of sizes with one point per week, as SVG for light and dark pages.
struct SizeChart {
    struct Line {
        let name: String
        let bytes: [Int]
    }

    private let lines: [Line]

    private static let (width, height) = (720, 320)
    private static let (left, right, top, bottom) = (70, 150, 20, 40)
    private static let colours = ["#c2410c", "#0369a1"]
    private static let steps = 4

    init(_ lines: [Line]) { self.lines = lines }

    var svg: String {
        let most = max(lines.flatMap(\.bytes).max() ?? 1, 1)
        let weeks = max(lines.map(\.bytes.count).max() ?? 1, 2)
        let (spanX, spanY) = (
            SizeChart.width - SizeChart.left - SizeChart.right, SizeChart.height - SizeChart.top - SizeChart.bottom
        )
        func x(_ week: Int) -> Int { SizeChart.left + spanX * week / weeks }
        func y(_ bytes: Int) -> Int { SizeChart.top + spanY - Int(Double(spanY) * Double(bytes) / Double(most)) }
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(SizeChart.width) \(SizeChart.height)" role="img" \
            font-family="sans-serif" font-size="13">
            <title>The size of an archive over a year of work</title>
            <rect width="100%" height="100%" fill="#ffffff"/>

            """
        for step in 0...SizeChart.steps {
            let bytes = most / SizeChart.steps * step
            text += "<line x1=\"\(x(0))\" x2=\"\(x(weeks))\" y1=\"\(y(bytes))\" y2=\"\(y(bytes))\" stroke=\"#ddd\"/>\n"
            text += "<text x=\"\(x(0) - 8)\" y=\"\(y(bytes) + 4)\" text-anchor=\"end\">\(bytes >> 20) MiB</text>\n"
            let week = weeks * step / SizeChart.steps
            let label = "\(week) weeks"
            text += "<text x=\"\(x(week))\" y=\"\(y(0) + 22)\" text-anchor=\"middle\">\(label)</text>\n"
        }
        for (line, colour) in zip(lines, SizeChart.colours) {
            let points = ([0] + line.bytes).enumerated().map { "\(x($0.offset)),\(y($0.element))" }
            text += "<polyline fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2.5\" "
            text += "points=\"\(points.joined(separator: " "))\"/>\n"
            text += "<text x=\"\(x(line.bytes.count) + 8)\" y=\"\(y(line.bytes.last ?? 0) + 4)\" fill=\"\(colour)\">"
            text += "\(line.name)</text>\n"
        }
        return text + "</svg>\n"
    }
}
